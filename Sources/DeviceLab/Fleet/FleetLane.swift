package import AppAttest

/// Makes a fleet's records, keeping the devices it has met. One per thread.
package final class FleetLane {
    private let fleet: FakeFleet
    private var devices: [FakeDevice?]

    /// Devices above this number are made again for each record: this saves memory and costs time.
    private static let maxKept = 200_000

    init(fleet: FakeFleet) {
        self.fleet = fleet
        devices = Array(repeating: nil, count: min(fleet.plan.devices, Self.maxKept))
    }

    /// The device that does the step.
    package func device(_ number: Int) -> FakeDevice {
        guard number < devices.count else { return fleet.device(number) }
        if let device = devices[number] { return device }
        let device = fleet.device(number)
        devices[number] = device
        return device
    }

    /// The record at `index`, with the fleet's own client data hash.
    ///
    /// - Parameter time: the device's clock; nil = the plan's time.
    package func record(_ index: Int, at time: EvaluationTime? = nil) -> FleetRecord {
        let step = fleet.step(index, at: time)
        return record(step, clientDataHash: fleet.clientDataHash(step))
    }

    /// The record of a step with the caller's client data hash. A replay must get the one of the record it repeats.
    package func record(_ step: FleetStep, clientDataHash: [UInt8]) -> FleetRecord {
        let device = device(step.device)
        return FleetRecord(
            step: step,
            keyID: device.keyID,
            clientDataHash: clientDataHash,
            object: object(step, device, clientDataHash)
        )
    }

    private func object(_ step: FleetStep, _ device: FakeDevice, _ clientDataHash: [UInt8]) -> [UInt8] {
        switch step.fault {
        case .attestation(let fault): return device.attest(clientDataHash: clientDataHash, at: step.time, fault: fault)
        case .assertion(let fault):
            return device.assertion(clientDataHash: clientDataHash, counter: step.counter, fault: fault)
        case .replay, nil: break
        }
        switch step.method {
        case .attestation: return device.attest(clientDataHash: clientDataHash, at: step.time)
        case .assertion: return device.assertion(clientDataHash: clientDataHash, counter: step.counter)
        }
    }
}
