package import Broker
package import KafkaPorts
internal import Member
internal import Pipeline
package import Streams
internal import TestKit
internal import Testing

/// The two promises that a member can make.
package enum MemberDelivery: Sendable {
    case exactlyOnce, atLeastOnce
}

/// Records of one assignment, and which one it was.
package struct MemberBatch {
    package var records: [InboundRecord] = []
    package var generation = Generation(0)

    package init(records: [InboundRecord] = [], generation: Generation = Generation(0)) {
        (self.records, self.generation) = (records, generation)
    }

    /// The positions after the last of these records.
    package var positions: [PartitionPosition] {
        Dictionary(grouping: records, by: \.partition).map { partition, records in
            PartitionPosition(partition: partition, offset: (records.map(\.offset).max() ?? 0) + 1)
        }
    }

    /// Adds a round's records; those of another assignment replace all.
    package mutating func add(_ round: MemberBatch) {
        guard !round.records.isEmpty else { return }
        if round.generation != generation { self = MemberBatch(generation: round.generation) }
        records += round.records
    }

    /// Where each record lies.
    package var places: Set<[Int64]> { Set(records.map { [Int64($0.partition), $0.offset] }) }

    package func filter(_ isKept: (InboundRecord) -> Bool) -> MemberBatch {
        MemberBatch(records: records.filter(isKept), generation: generation)
    }

    /// An output for each record.
    package func outputs(_ streams: OutputTopic...) -> [OutboundRecord] {
        records.flatMap { record in streams.map { MemberDriver.output($0, for: record) } }
    }
}

/// A change of the group, as tests compare it.
package enum AssignmentChange: Sendable, Equatable {
    case assigned([Int32]), revoked([Int32]), lost([Int32])

    /// nil = it is not of the group.
    package init?(_ event: PartitionEvent) {
        switch event {
        case .assigned(let partitions, _, _): self = .assigned(partitions)
        case .revoked(let partitions): self = .revoked(partitions)
        case .lost(let partitions): self = .lost(partitions)
        default: return nil
        }
    }
}

/// Drives a ``SteppedMember`` as the loop does: restores what is assigned, gives back what is revoked, and aborts where
/// that is asked for.
package final class MemberDriver {
    package let member: SteppedMember
    /// In the order in which they came.
    package private(set) var changes: [AssignmentChange] = []
    /// The records of each finished restore.
    package private(set) var restored: [[StoredRecord]] = []
    /// How many ledgers were restored.
    private var completed = 0
    package private(set) var held: [Int32: String] = [:]
    private var marks: [Int32: PositionMark] = [:]
    /// Faults that did not end the loop.
    package private(set) var faults: [KafkaFault] = []
    package var kept: Set<Int32> = []
    private var reading: [StoredRecord]?
    /// The number of the last assignment.
    private var announcement = Generation(0)
    private var needsAbort = false
    package private(set) var assigned: [Int32] = []
    /// Partitions whose ledgers are not restored.
    private var unread: Set<Int32> = []
    private var given = 0

    package init(_ member: SteppedMember) { self.member = member }

    package convenience init(_ delivery: MemberDelivery, _ settings: BrokerSettings) throws {
        self.init(try SteppedMember(delivery == .exactlyOnce ? .transaction : .atLeastOnce, settings))
    }

    /// One step of the loop. - Returns: the records that it gave.
    @discardableResult
    package func step(_ limits: BatchLimits = BatchLimits(), waitMilliseconds: Int = 100) throws -> MemberBatch {
        do {
            if needsAbort { try abortOnce() }
            if reading != nil {
                try restore(waitMilliseconds)
                // Restored partitions are read while others are still being restored.
                if reading != nil, unread.count == assigned.count { return MemberBatch() }
            }
            var round = PollRound()
            round.events = member.takeChange().map { [$0] } ?? []
            if round.events.isEmpty { round = try member.poll(limits, waitMilliseconds: waitMilliseconds) }
            let hasChange = round.events.contains { AssignmentChange($0) != nil }
            #expect(!hasChange || round.records.isEmpty, "either records or a change")
            #expect(round.records.count <= limits.records)
            given += round.records.count
            for event in round.events { try take(event) }
            let records = round.records.compactMap { $0.take() }
            return MemberBatch(records: records, generation: round.generation)
        } catch let fault as KafkaFault where !fault.endsLoop {
            faults.append(fault)
            if fault.requiresAbort { needsAbort = true }
            return MemberBatch()
        }
    }

    private func restore(_ waitMilliseconds: Int) throws {
        for event in try member.readLedgers(10_000, waitMilliseconds: waitMilliseconds) { try take(event) }
        if unread.isEmpty, let reading {
            restored.append(reading)
            self.reading = nil
        }
    }

    private func take(_ event: PartitionEvent) throws {
        if let change = AssignmentChange(event) { changes.append(change) }
        switch event {
        case .assigned(let partitions, let announcement, _):
            self.announcement = announcement
            begin(partitions)
        case .revoked, .lost:
            reading = nil
            try member.streams.release()
        case .ledger(let records, _): reading?.append(contentsOf: records.records)
        case .ledgerDropped(let partition): marks[partition] = nil
        case .ledgerGiven(let partition):
            completed += 1
            unread.remove(partition)
            try start(partition)
        case .started, .ledgerCopied: break
        case .held(let partition, let sentence, _):
            held[partition] = sentence
            unread.remove(partition)
        }
    }

    /// Uses the last mark that was read, also in an earlier restore: a kept ledger's is not read again.
    private func start(_ partition: Int32) throws {
        let records = (reading ?? []).filter { $0.partition == partition }
        for record in records where record.key == [4] { try note(partition, record.value) }
        let isEmpty = records.allSatisfy { $0.key == [4] } && !kept.contains(partition)
        let mark = marks[partition]
        let event = try member.streams.ledgerIsWhole(partition, mark: mark, isEmpty: isEmpty, of: announcement)
        if let event { try take(event) }
    }

    private func note(_ partition: Int32, _ value: [UInt8]?) throws {
        if case .mark(let mark) = try LedgerCodec.decode(key: [4], value: value) {
            marks[partition] = mark.position
        } else {
            marks[partition] = nil
        }
    }

    private func begin(_ partitions: [Int32]) {
        member.streams.restore(kept: kept.intersection(partitions), of: announcement)
        (assigned, unread) = (partitions, Set(partitions))
        for partition in partitions {
            if !kept.contains(partition) { marks[partition] = nil }
            held[partition] = nil
        }
        reading = []
    }

    /// Whether the ledgers of all that is assigned were read.
    package var isRestored: Bool { reading == nil && changes.last == .assigned(assigned) }

    /// Records of the restore that is under way.
    package var readCount: Int { reading?.count ?? 0 }

    /// Changes with each step that makes progress. It leaves faults out, since a member may retry without an end.
    package var progress: Int { changes.count + restored.count + (reading?.count ?? 0) + completed + given }

    /// Steps until `count` records of one assignment are there.
    package func records(_ count: Int, limits: BatchLimits = BatchLimits()) throws -> MemberBatch {
        try gather(limits) { $0.records.count >= count }
    }

    /// Steps until a condition holds. - Returns: false once nothing has changed for 30 s.
    package func steps(
        _ limits: BatchLimits = BatchLimits(),
        until isDone: (MemberBatch) throws -> Bool
    ) throws -> Bool {
        var watch = StandstillWatch<Int>()
        while !watch.isStill(progress) {
            if try isDone(step(limits)) { return true }
        }
        return false
    }

    /// Steps until a condition on the records that came meanwhile holds, and never takes more than the limit in all:
    /// partitions whose ledgers are restored give some while others' are not.
    package func gather(
        _ limits: BatchLimits = BatchLimits(),
        until isDone: (MemberBatch) throws -> Bool
    ) throws -> MemberBatch {
        var (batch, watch) = (MemberBatch(), StandstillWatch<Int>())
        while !watch.isStill(progress) {
            var rest = limits
            rest.records -= batch.records.count
            try batch.add(step(rest))
            if try isDone(batch) { return batch }
        }
        Issue.record("gathered \(batch.records.count) records: \(changes) \(faults)")
        return batch
    }

    /// Commits a batch with outputs.
    package func commit(_ batch: MemberBatch, _ outputs: [OutboundRecord]) throws {
        try member.commit(outputs, batch.positions, of: batch.generation)
        // The loop knows what it has written.
        for output in outputs where output.key == [4] { try note(output.partition, output.value) }
    }

    /// Writes a transaction that fails, and leaves its abort to the caller: one of its outputs is larger than the
    /// client sends.
    ///
    /// - Parameter place: how many outputs come before that one; nil = all of them.
    package func fail(_ batch: MemberBatch, _ outputs: [OutboundRecord], after place: Int? = nil) {
        var outputs = outputs
        var large = outputs[0]
        large.value = [UInt8](repeating: 7, count: 3_000_000)
        outputs.insert(large, at: place ?? outputs.count)
        let fault = #expect(throws: KafkaFault.self) { try commit(batch, outputs) }
        #expect(fault?.isRecordFault == true && fault?.requiresAbort == true, "\(fault as Any)")
    }

    private func abortOnce() throws {
        try member.abort()
        needsAbort = false
    }

    /// Aborts, and tries again after each fault that does not end the loop.
    package func abort() throws {
        needsAbort = true
        var watch = StandstillWatch<Bool>()
        while !watch.isStill(needsAbort) {
            do {
                return try abortOnce()
            } catch let fault as KafkaFault where !fault.endsLoop {
                faults.append(fault)
            }
        }
        Issue.record("the abort did not come to an end: \(faults)")
    }
}
