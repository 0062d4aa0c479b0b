package import AppAttest
internal import Crypto

/// Makes a fleet's records, keeping the devices it has met. One per thread.
package final class FleetLane {
    private let fleet: FakeFleet
    private let batch: LabBatch
    /// Keys that all lanes share.
    package var roster = DeviceRoster()
    /// Keys of devices that the roster did not have, by number.
    private var ownKeys: [Int: DeviceKey] = [:]

    /// Keys above this number are made again for each record: this saves memory and costs time.
    private static let maxKept = 200_000

    /// - Parameter batch: of the thread that this lane belongs to.
    init(fleet: FakeFleet, batch: LabBatch) { (self.fleet, self.batch) = (fleet, batch) }

    package func device(_ number: Int) -> FakeDevice { devices([number])[0] }

    /// The devices of these numbers; keys that are not known yet are made together.
    package func devices(_ numbers: [Int]) -> [FakeDevice] {
        let missing = Set(numbers.filter { roster.key($0) == nil && ownKeys[$0] == nil }).sorted()
        var made: [Int: DeviceKey] = [:]
        if !missing.isEmpty {
            for (number, key) in zip(missing, fleet.keys(of: missing, batch)) { made[number] = key }
            for (number, key) in made where ownKeys.count < Self.maxKept { ownKeys[number] = key }
        }
        return numbers.map { number in
            guard let key = roster.key(number) ?? ownKeys[number] ?? made[number] else {
                preconditionFailure("missing keys were made")
            }
            return fleet.device(number, key)
        }
    }

    /// The record at `index`, with the fleet's own client data hash.
    ///
    /// - Parameter time: the device's clock; nil = the plan's time.
    package func record(_ index: Int, at time: EvaluationTime? = nil) -> FleetRecord { records([index], at: time)[0] }

    /// The records at these indices, whose signatures are made together.
    package func records(_ indices: [Int], at time: EvaluationTime? = nil) -> [FleetRecord] {
        let steps = indices.map { fleet.step($0, at: time) }
        let (devices, hashes) = (devices(steps.map(\.device)), steps.map { fleet.clientDataHash($0) })
        let objects = finish(steps.indices.map { Self.object(steps[$0], devices[$0], hashes[$0]) })
        return steps.indices.map {
            FleetRecord(step: steps[$0], keyID: devices[$0].keyID, clientDataHash: hashes[$0], object: objects[$0])
        }
    }

    /// The objects' bytes, in their order.
    package func finish(_ objects: [UnfinishedObject]) -> [[UInt8]] {
        UnfinishedObject.finish(objects, by: fleet.plan.ca.signer, batch)
    }

    private static func object(_ step: FleetStep, _ device: FakeDevice, _ clientDataHash: [UInt8]) -> UnfinishedObject {
        switch (step.fault, step.kind) {
        case (.attestation(let fault)?, _):
            device.unfinishedAttestation(clientDataHash: clientDataHash, at: step.time, fault: fault)
        case (.assertion(let fault)?, _):
            device.unfinishedAssertion(clientDataHash: clientDataHash, counter: step.counter, fault: fault)
        case (_, .attestation): device.unfinishedAttestation(clientDataHash: clientDataHash, at: step.time)
        case (_, .assertion): device.unfinishedAssertion(clientDataHash: clientDataHash, counter: step.counter)
        }
    }
}

package struct FleetRecord: Sendable {
    package let step: FleetStep
    package let keyID: KeyID
    package let clientDataHash: [UInt8]
    /// The attestation or assertion object.
    package let object: [UInt8]

    package var kind: FleetPlan.ObjectKind { step.kind }
    package var time: EvaluationTime { step.time }
    package var fault: FleetFault? { step.fault }
}
