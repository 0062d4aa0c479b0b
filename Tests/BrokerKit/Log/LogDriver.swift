package import Broker
internal import Kafka
internal import KafkaKit
package import KafkaPorts
package import Log
internal import Member
internal import Pipeline
internal import Settings
internal import TestKit
internal import Testing

/// The two promises that a log can make.
package enum LogDelivery: String, CaseIterable, Sendable {
    case exactlyOnce, atLeastOnce

    package func log(_ settings: BrokerSettings) throws -> SteppedLog {
        try SteppedLog(self == .exactlyOnce ? .transaction : .atLeastOnce, settings)
    }
}

/// Records of one assignment, and which one it was.
package struct LogBatch {
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
    package mutating func add(_ round: LogBatch) {
        guard !round.records.isEmpty else { return }
        if round.generation != generation { self = LogBatch(generation: round.generation) }
        records += round.records
    }

    /// Where each record lies.
    package var places: Set<[Int64]> { Set(records.map { [Int64($0.partition), $0.offset] }) }

    package func filter(_ isKept: (InboundRecord) -> Bool) -> LogBatch {
        LogBatch(records: records.filter(isKept), generation: generation)
    }

    /// An output for each record.
    package func outputs(_ streams: OutputTopic...) -> [OutboundRecord] {
        records.flatMap { record in streams.map { LogDriver.output($0, for: record) } }
    }
}

/// Drives a ``SteppedLog`` as the loop does: restores what is assigned, gives back what is revoked, and aborts where
/// that is asked for.
package final class LogDriver {
    package let log: SteppedLog
    /// In the order in which they came.
    package private(set) var changes: [AssignmentChange] = []
    /// The records of each finished restore.
    package private(set) var restored: [[StoredRecord]] = []
    /// Kept ledgers that were to be dropped.
    package private(set) var dropped: Set<Int32> = []
    /// Partitions whose ledgers were restored, in that order.
    package private(set) var completed: [Int32] = []
    /// The report of each partition's last start.
    package private(set) var starts: [Int32: PartitionStart.Report] = [:]
    package private(set) var held: [Int32: String] = [:]
    private var marks: [Int32: PositionMark] = [:]
    /// Faults that did not end the loop.
    package private(set) var faults: [KafkaFault] = []
    /// Partitions whose ledgers are kept.
    package var kept: Set<Int32> = []
    /// Polled records go here instead, as they are; nil = they are taken.
    package var uncopied: [PolledRecord]?
    private var reading: [StoredRecord]?
    /// An assignment whose restore could not be begun yet.
    private var unanswered: [Int32]?
    private var needsAbort = false
    package private(set) var assigned: [Int32] = []
    /// Partitions whose ledgers are not restored.
    private var unread: Set<Int32> = []
    /// Records that were given.
    private var given = 0

    package init(_ log: SteppedLog) { self.log = log }

    package convenience init(_ delivery: LogDelivery, _ settings: BrokerSettings) throws {
        self.init(try delivery.log(settings))
    }

    /// One step of the loop. - Returns: the records that it gave.
    @discardableResult
    package func step(_ limits: BatchLimits = BatchLimits(), waitMilliseconds: Int = 100) throws -> LogBatch {
        do {
            if needsAbort { try abortOnce() }
            if let partitions = unanswered { try begin(partitions) }
            if reading != nil {
                try restore(waitMilliseconds)
                // Restored partitions are read while others are still being restored.
                if reading != nil, unread.count == assigned.count { return LogBatch() }
            }
            var round = PollRound()
            round.change = log.unit.takeChange()
            if round.change == nil { round = try log.poll(limits, waitMilliseconds: waitMilliseconds) }
            #expect(round.change == nil || round.records.isEmpty, "either records or a change")
            #expect(round.records.count <= limits.records)
            given += round.records.count
            if let change = round.change { try take(change) }
            if uncopied != nil {
                uncopied?.append(contentsOf: round.records)
                return LogBatch(generation: round.generation)
            }
            let records = round.records.compactMap { $0.take() }
            return LogBatch(records: records, generation: round.generation)
        } catch let fault as KafkaFault where !fault.endsLoop {
            faults.append(fault)
            if fault.requiresAbort { needsAbort = true }
            return LogBatch()
        }
    }

    private func restore(_ waitMilliseconds: Int) throws {
        let round = try log.restore(10_000, waitMilliseconds: waitMilliseconds)
        if let change = round.change {
            reading = nil
            return try take(change)
        }
        reading?.append(contentsOf: round.records.records)
        dropped.formUnion(round.dropped)
        for partition in round.dropped { marks[partition] = nil }
        for partition in round.completed {
            completed.append(partition)
            unread.remove(partition)
            try start(partition)
        }
        if unread.isEmpty, let reading {
            #expect(round.remaining == 0)
            restored.append(reading)
            self.reading = nil
        }
    }

    /// Uses the last mark that was read, also in an earlier restore: a kept ledger's is not read again.
    private func start(_ partition: Int32) throws {
        let records = (reading ?? []).filter { $0.partition == partition }
        for record in records where record.key == [4] { try note(partition, record.value) }
        let isEmpty = records.allSatisfy { $0.key == [4] } && !kept.contains(partition)
        switch try log.start(partition, mark: marks[partition], ledgerIsEmpty: isEmpty) {
        case .started(let report): starts[partition] = report
        case .held(let sentence):
            held[partition] = sentence
            try log.hold(partition)
        }
    }

    private func note(_ partition: Int32, _ value: [UInt8]?) throws {
        if case .mark(let mark) = try LedgerCodec.decode(key: [4], value: value) {
            marks[partition] = mark.position
        } else {
            marks[partition] = nil
        }
    }

    private func take(_ change: AssignmentChange) throws {
        changes.append(change)
        switch change {
        case .assigned(let partitions):
            unanswered = partitions
            try begin(partitions)
        case .revoked, .lost:
            reading = nil
            try log.releaseRevoked()
        }
    }

    private func begin(_ partitions: [Int32]) throws {
        try log.beginRestore(partitions, kept: kept.intersection(partitions))
        (assigned, unread) = (partitions, Set(partitions))
        for partition in partitions {
            if !kept.contains(partition) { marks[partition] = nil }
            (starts[partition], held[partition]) = (nil, nil)
        }
        unanswered = nil
        reading = []
    }

    /// Whether the ledgers of all that is assigned were read.
    package var isRestored: Bool { reading == nil && unanswered == nil && changes.last == .assigned(assigned) }

    /// Changes with each step that makes progress.
    package var progress: Int { mark.reduce(0, +) }

    /// As ``progress``. It leaves faults out, since a log may retry without an end.
    private var mark: [Int] {
        [changes.count, restored.count, reading?.count ?? 0, completed.count, given]
    }

    /// Steps until `count` records of one assignment are there, and never takes more than the limit in all.
    ///
    /// - Parameter first: those that came already.
    package func records(
        _ count: Int,
        after first: LogBatch = LogBatch(),
        limits: BatchLimits = BatchLimits()
    ) throws -> LogBatch {
        var (batch, watch) = (first, StandstillWatch<[Int]>())
        while batch.records.count < count, !watch.isStill(mark) {
            var rest = limits
            rest.records -= batch.records.count
            try batch.add(step(rest))
        }
        if batch.records.count < count {
            Issue.record("only \(batch.records.count) of \(count) records came: \(faults)")
        }
        return batch
    }

    /// Steps until a condition holds. - Returns: false once nothing has changed for 30 s.
    package func steps(
        _ limits: BatchLimits = BatchLimits(),
        until isDone: (LogBatch) throws -> Bool
    ) throws -> Bool {
        var watch = StandstillWatch<[Int]>()
        while !watch.isStill(mark) {
            if try isDone(step(limits)) { return true }
        }
        return false
    }

    /// Steps until a condition on the records that came meanwhile holds: partitions whose ledgers are restored give some
    /// while others' are not.
    package func gather(until isDone: (LogBatch) throws -> Bool) throws -> LogBatch {
        var batch = LogBatch()
        let isGathered = try steps { round in
            batch.add(round)
            return try isDone(batch)
        }
        if !isGathered { Issue.record("gathered \(batch.records.count) records: \(changes) \(faults)") }
        return batch
    }

    /// Commits a batch with outputs.
    package func commit(_ batch: LogBatch, _ outputs: [OutboundRecord]) throws {
        try log.unit.begin()
        try log.unit.append(outputs)
        try log.unit.commit(batch.positions, of: batch.generation)
        // The loop knows what it has written.
        for output in outputs where output.key == [4] { try note(output.partition, output.value) }
    }

    /// Writes a unit that fails, and leaves its abort to the caller: one of its outputs is larger than the client sends.
    ///
    /// - Parameter place: how many outputs come before that one; nil = all of them.
    package func fail(_ batch: LogBatch, _ outputs: [OutboundRecord], after place: Int? = nil) {
        var outputs = outputs
        var large = outputs[0]
        large.value = [UInt8](repeating: 7, count: 3_000_000)
        outputs.insert(large, at: place ?? outputs.count)
        let fault = #expect(throws: KafkaFault.self) { try commit(batch, outputs) }
        #expect(fault?.isRecordFault == true && fault?.requiresAbort == true, "\(fault as Any)")
    }

    /// A restore that was under way starts again with the next assignment.
    private func abortOnce() throws {
        try log.unit.abort()
        needsAbort = false
        reading = nil
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
