package import AppAttest
package import Crypto

/// A stream of traffic in which each record is a pure function of the plan and its index: any part of it can be made
/// at any time, on any thread, and is always the same.
package struct FakeFleet: Sendable {
    package let plan: FleetPlan
    /// The fault pools by shape.
    private let pools: [FaultPool]
    /// The models by app, then by shape.
    private let models: [DeviceModel]

    package init(_ plan: FleetPlan) {
        precondition(!plan.shapes.isEmpty && !plan.kinds.isEmpty, "devices have a shape and something to do")
        self.plan = plan
        pools = plan.shapes.map { FaultPool($0, plan.kinds) }
        models = plan.appIDs.flatMap { appID in
            plan.shapes.map {
                DeviceModel(
                    ca: plan.ca,
                    appID: appID,
                    environment: plan.environment,
                    shape: $0,
                    category: plan.category,
                    bundleVersion: plan.bundleVersion ?? DeviceModel.standardBundleVersion
                )
            }
        }
    }

    /// The record at `index`, without its bytes.
    ///
    /// - Parameter time: the device's clock; nil = the plan's time.
    package func step(_ index: Int, at time: EvaluationTime? = nil) -> FleetStep {
        precondition(index >= 0 && index < plan.records, "the plan says how many records there are")
        let round = self.round(of: index)
        let device = round.map { (index + offset($0)) % plan.devices } ?? index
        let fault = round.flatMap { self.fault(device: device, round: $0) }
        let kind: FleetPlan.ObjectKind = round == nil ? .attestation : self.kind(fault)
        let replayed = fault == .replay ? round.flatMap { lastHonestRound(of: device, before: $0) } : nil
        var counter: UInt32 = 0
        if kind == .assertion {
            // A replay without anything to repeat has counter 0, which is never greater than what is stored.
            counter = UInt32(clamping: fault == .replay ? replayed.map { $0 + 1 } ?? 0 : (round ?? 0) + 1)
        }
        return FleetStep(
            index: index,
            device: device,
            kind: kind,
            counter: counter,
            time: time ?? self.time(of: index),
            fault: fault,
            replayOf: replayed.map { self.index(of: device, round: $0) }
        )
    }

    /// A new device: its counter is 0.
    ///
    /// - Parameter key: the device's own; nil = it is made here.
    package func device(_ number: Int, _ key: DeviceKey? = nil) -> FakeDevice {
        var device = FakeDevice(model(of: number), seed: seed(of: number), key: key)
        if plan.brokerShare > 0 { device.hardware = hardware(of: number) }
        return device
    }

    /// A maker of records; each thread takes its own.
    ///
    /// - Parameter batch: the thread's own.
    package func lane(_ batch: LabBatch = LabBatch()) -> FleetLane {
        // With models of its own: threads that count references to the same objects wait for each other.
        FleetLane(fleet: FakeFleet(plan), batch: batch)
    }

    func clientDataHash(_ step: FleetStep) -> [UInt8] {
        // Replays have the hash of the record that they replay.
        let index = step.replayOf ?? step.index
        let seed = CBORBytes.bigEndian(plan.seed, 8) + CBORBytes.bigEndian(UInt64(index), 8)
        var hash = SHA256.hash(Array("lab client data".utf8) + seed).bytes
        while hash.count < plan.clientDataHashBytes { hash += SHA256.hash(hash).bytes }
        return Array(hash.prefix(plan.clientDataHashBytes))
    }

    /// The round of a record; nil for first attestations, which come before all rounds.
    package func round(of index: Int) -> Int? { index < plan.devices ? nil : index / plan.devices - 1 }

    private func model(of device: Int) -> DeviceModel {
        models[device % plan.appIDs.count * plan.shapes.count + shapeIndex(device)]
    }

    func seed(of device: Int) -> UInt64 { random(.seed, device) }

    private func shapeIndex(_ device: Int) -> Int { Int(random(.shape, device) % UInt64(plan.shapes.count)) }

    /// Each round goes through all devices in turn, starting at another one.
    private func offset(_ round: Int) -> Int { Int(random(.offset, round) % UInt64(plan.devices)) }

    private func kind(_ fault: FleetFault?) -> FleetPlan.ObjectKind {
        switch fault {
        case .attestation: .attestation
        case .assertion, .replay: .assertion
        case nil: plan.kinds.contains(.assertion) ? .assertion : .attestation
        }
    }

    private func time(of index: Int) -> EvaluationTime {
        let nanoseconds = Int64(index).multipliedReportingOverflow(by: plan.nanosecondsApart).partialValue
        return EvaluationTime(milliseconds: plan.start.milliseconds + nanoseconds / 1_000_000)
    }

    /// The index of a device's record in a round; rounds follow the first attestations, from 0 on.
    package func index(of device: Int, round: Int) -> Int {
        (round + 1) * plan.devices + (device - offset(round) + plan.devices) % plan.devices
    }

    /// Looks back a little: with few faults the last round or the one before it.
    private func lastHonestRound(of device: Int, before round: Int) -> Int? {
        (max(0, round - 32)..<round).reversed().first { fault(device: device, round: $0) == nil }
    }

    private func fault(device: Int, round: Int) -> FleetFault? {
        guard plan.faultShare > 0 else { return nil }
        let number = random(.fault, device, round)
        guard Double(number >> 11) < plan.faultShare * Double(UInt64(1) << 53) else { return nil }
        return pools[shapeIndex(device)].draw(random(.draw, device, round))
    }

    private enum Purpose: UInt64 { case seed = 1, shape, offset, fault, draw }

    private func random(_ purpose: Purpose, _ first: Int, _ second: Int = 0) -> UInt64 {
        var generator = SeededRandom(seed: plan.seed ^ purpose.rawValue &* 0xD6E8_FEB8_6659_FD93)
        generator = SeededRandom(seed: generator.next() ^ UInt64(first))
        generator = SeededRandom(seed: generator.next() ^ UInt64(second))
        return generator.next()
    }
}
