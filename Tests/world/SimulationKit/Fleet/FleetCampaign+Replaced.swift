internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Pipeline
internal import Streams
internal import TestKit

/// Devices that used their keys after an export, whose ledger the export then replaces, and a thief with all that they
/// sent.
extension FleetCampaign {
    /// Runs one seed and says what does not hold: once a device's own next counter is accepted, none that it used before
    /// is accepted again.
    package func runReplaced(
        _ seed: UInt64,
        change: (inout SimulationPlan) -> Void = { _ in }
    ) throws -> Report {
        let (before, after) = traffic.replaced(seed: seed)
        var plan = SimulationPlan.rough(seed: seed)
        (plan.chaosSteps, plan.world) = (120, nil)
        change(&plan)
        let fleet = fleet(plan, before)
        guard fleet.run() else { return Report(seed: seed, complaints: ["not drained before the replacement"]) }
        fleet.stopAll()
        let used = try Self.accepted(fleet.broker).mapValues { Set($0.map(\.counter)) }
        var random = SeededRandom(seed: 7_000 + seed)
        for partition in fleet.broker.partitions {
            try fleet.broker.replaceLedger(of: partition, byExportAt: Double.random(in: 0...1, using: &random))
        }
        let starts = fleet.broker.partitions.reduce(into: [:]) { $0[$1] = fleet.broker.end($1) }
        fleet.broker.add(after)
        guard fleet.run() else { return Report(seed: seed, complaints: ["not drained after the replacement"]) }
        var complaints = fleet.held.map { "partition \($0) is held" }
        for (key, answers) in try Self.accepted(fleet.broker) {
            var isBack = false
            for answer in answers where answer.offset >= starts[answer.partition] ?? 0 {
                acceptedAfterReplacement += 1
                let wasUsed = used[key]?.contains(answer.counter) ?? false
                if wasUsed, isBack { complaints.append("counter \(answer.counter) of \(key) was used before") }
                if answer.counter > used[key]?.max() ?? 0 { isBack = true }
            }
        }
        return Report(seed: seed, complaints: complaints)
    }

    private typealias Answer = (partition: Int32, offset: Int64, counter: Int64)

    /// The assertions that were accepted, by the text of their key, each in its order.
    private static func accepted(_ broker: SimulatedBroker) throws -> [String: [Answer]] {
        var answers: [String: [Answer]] = [:]
        for output in broker.visible(.results).values.joined() {
            let result = try ReadResult(output)
            guard result.verdict == "accepted", !result.duplicate, let counter = result.counter, counter > 0 else {
                continue
            }
            answers[output.keyText, default: []].append((output.partition, result.offset, counter))
        }
        return answers
    }
}

extension FleetTraffic {
    /// The most counters of a device before the replacement.
    private static let usedBefore = 5

    /// What devices send before a ledger is replaced, and after it, with what a thief sends: all of the former, once the
    /// device is back.
    func replaced(seed: UInt64) -> (before: [InboundRecord], after: [InboundRecord]) {
        var random = SeededRandom(seed: 9_000 + seed)
        let partitions = 1 + Int(seed % 3)
        var (early, late): ([[(Int, [UInt8])]], [[(Int, [UInt8])]]) = ([], [])
        for (number, device) in devices.enumerated() {
            var used = Array(device.assertions[..<Self.usedBefore]).shuffled(using: &random)
            // One of them may still be on its way, and arrive first.
            let isLate = random.chance(0.3)
            let delayed = isLate ? [used.removeLast()] : []
            early.append((device.attestations.prefix(1) + used).map { (number, $0) })
            let own = device.assertions[Self.usedBefore...].shuffled(using: &random)
            let rest = (own.dropFirst() + used + used).shuffled(using: &random)
            late.append((delayed + own.prefix(1) + rest).map { (number, $0) })
        }
        var offsets: [Int32: Int64] = [:]
        let before = records(early, "before", partitions, &offsets, &random)
        return (before, records(late, "after", partitions, &offsets, &random))
    }

    /// Interleaved, each device's own in their order.
    private func records(
        _ queues: [[(Int, [UInt8])]],
        _ name: String,
        _ partitions: Int,
        _ offsets: inout [Int32: Int64],
        _ random: inout SeededRandom
    ) -> [InboundRecord] {
        var queues = queues
        var records: [InboundRecord] = []
        while let index = queues.indices.filter({ !queues[$0].isEmpty }).randomElement(using: &random) {
            let (number, value) = queues[index].removeFirst()
            let partition = Int32(number % partitions)
            records.append(
                RequestRecords.record(
                    value,
                    key: devices[number].key,
                    partition: partition,
                    offset: offsets[partition, default: 0],
                    id: "\(name)-\(records.count)",
                    timestamp: RequestRecords.time
                )
            )
            offsets[partition, default: 0] += 1
        }
        return records
    }
}

extension SimulatedBroker {
    /// The ledger is lost, an export comes back, and `reset --offsets-only --to-committed` sets the mark.
    ///
    /// - Parameter share: how much of the ledger was written when the export was made.
    func replaceLedger(of partition: Int32, byExportAt share: Double) throws {
        let topic = Topic(.ledger, partition)
        let records = log(.ledger, partition).visible
        var export = PartitionLedger()
        for record in records.prefix(Int(Double(records.count) * share)) {
            export.apply(try LedgerCodec.decode(key: record.key ?? [], value: record.value))
        }
        var log = PartitionLog()
        export.keys.forEach { id, record in
            log.append(OutboundRecord(.key(id, record.withoutHistory), partition: partition), transaction: nil)
        }
        logs[topic] = log
        reset(partition, to: committed[partition, default: 0])
    }
}
