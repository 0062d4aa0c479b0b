package import Streams

/// Records that were being processed when an earlier process crashed, and how often.
///
/// A crash shows which record its thread was touching, but another thread may have done the damage, and some records
/// are touched together. So a suspect is done again with nothing else in flight, and only a record that was alone in
/// crash after crash becomes a dead letter: no record can cause that for another one.
package struct CrashSuspects: Sendable, Equatable {
    package struct Count: Sendable, Equatable {
        /// Crashes while it was being processed.
        package var total = 0
        /// The crashes among these with nothing else in flight.
        package var alone = 0

        package init(total: Int = 0, alone: Int = 0) { (self.total, self.alone) = (total, alone) }
    }

    /// Crashes after which a record is no longer tried.
    package static let tries = 3

    package private(set) var counts: [WorkItem: Count]

    package init(_ counts: [WorkItem: Count] = [:]) { self.counts = counts }

    package var isEmpty: Bool { counts.isEmpty }

    /// Adds work during which a process crashed.
    package mutating func add(_ work: Work) {
        for item in work.items {
            counts[item, default: Count()].total += 1
            if work.isAlone, work.items.count == 1 { counts[item, default: Count()].alone += 1 }
        }
        assert(counts.values.allSatisfy { $0.alone <= $0.total }, "a crash alone is a crash")
    }

    /// Whether the record is no longer tried: the first crash may be another's fault, but in two more it was alone.
    package func isConvicted(_ item: WorkItem) -> Bool {
        counts[item].map { $0.total >= Self.tries && $0.alone >= Self.tries - 1 } ?? false
    }

    package var convicted: Set<WorkItem> { Set(counts.keys.filter(isConvicted)) }

    /// - Returns: the suspects before these positions, dealt with or skipped; they are forgotten.
    package mutating func passed(_ positions: [PartitionPosition]) -> [WorkItem] {
        guard !counts.isEmpty else { return [] }
        let gone = counts.keys.filter { item in
            positions.contains { $0.partition == item.place.partition && $0.offset > item.place.offset }
        }
        for item in gone { counts[item] = nil }
        return gone
    }

    /// Splits a round so that every suspect is a separate piece. nil = the round has no suspect.
    func split(_ records: [PolledRecord]) -> [[PolledRecord]]? {
        guard !counts.isEmpty else { return nil }
        var pieces: [[PolledRecord]] = []
        var start = 0
        for (index, polled) in records.enumerated() {
            guard let stamp = polled.stamp, counts[WorkItem(stamp)] != nil else { continue }
            if start < index { pieces.append(Array(records[start..<index])) }
            pieces.append([polled])
            start = index + 1
        }
        // No piece was cut off.
        guard start > 0 else { return nil }
        if start < records.count { pieces.append(Array(records[start...])) }
        assert(pieces.reduce(0) { $0 + $1.count } == records.count, "no record is lost, and none comes twice")
        return pieces
    }
}

extension WorkItem {
    init(_ record: RecordStamp) { self.init(place: record.place, timestamp: record.timestamp) }
}

/// Reported when a record is not tried any more.
package struct CrashVerdict: LoopNotice {
    package let item: WorkItem

    package var description: String {
        "the request at partition \(item.place.partition), offset \(item.place.offset) ended this program "
            + "\(CrashSuspects.tries) times: it becomes a dead letter with dlq.reason internal; please report it"
    }
}
