internal import Streams

/// Ledgers of partitions of others while they are read for the first time. One that is whole is a kept one.
struct StandbyLedgers {
    /// The most records at a time: about a millisecond of the loop's.
    static let mostRecords = 1_024
    /// The rest after a read, in times of what it took: the loop has three quarters of its time for itself.
    private static let restShare: Int64 = 3
    private static let leastRest: Int64 = 3
    private static let rest: Int64 = 50

    private var reading: [Int32: RestoringLedger] = [:]
    /// The end of the present rest, by elapsed time in milliseconds.
    private(set) var restsUntil: Int64 = 0
    private var emptyRest = leastRest
    /// Whether more is there to read.
    private(set) var isBehind = false

    var partitions: Set<Int32> { Set(reading.keys) }

    mutating func begin(_ partition: Int32, with ledger: RestoringLedger) { reading[partition] = ledger }
    mutating func drop(_ partition: Int32) { reading[partition] = nil }

    subscript(partition: Int32) -> RestoringLedger? { reading[partition] }

    mutating func noteRead(_ records: Int, isBehind: Bool, from began: Int64, to now: Int64) {
        self.isBehind = isBehind
        // Longer each time that nothing comes.
        emptyRest = records > 0 ? Self.leastRest : min(Self.rest, emptyRest * 2)
        restsUntil = now + max(isBehind ? emptyRest : Self.rest, (now - began) * Self.restShare)
    }
}

extension BatchLoop {
    /// Reads on in the ledgers that a standby follows, while nothing of our own is read.
    ///
    /// - Returns: whether records came.
    func readStandby() -> Bool {
        guard case .settled = assignment, !phase.isStopped, let now = uptime(), now >= standby.restsUntil, let member,
            member.standbyLag != nil
        else { return false }
        var count = 0
        let events = member.readStandby(
            StandbyLedgers.mostRecords,
            mayWait: inFlight.isEmpty,
            kept: kept.partitions,
            reading: standby.partitions
        )
        for event in events {
            switch event {
            case .emptied(let partition):
                kept.drop(partition)
                standby.begin(partition, with: RestoringLedger(PartitionLedger()))
            case .records(let records):
                count += records.count
                for (partition, range) in records.runs { apply(records, range, to: partition) }
            case .left(let partition): standby.drop(partition)
            case .whole(let partition): keepStandby(partition, at: now)
            case .current(let partitions):
                for partition in partitions {
                    // What could not be read may have been replaced since.
                    keepStandby(partition, at: now)
                    kept.renew(partition, at: now)
                }
            }
        }
        standby.noteRead(count, isBehind: member.standbyLag ?? 0 > 0, from: now, to: uptime() ?? now)
        return count > 0
    }

    /// Milliseconds until more of the ledgers of others is read; nil = nothing waits there.
    var standbyRest: Int? {
        guard standby.isBehind, !phase.isStopped, case .settled = assignment, let now = uptime() else { return nil }
        return Int(max(1, standby.restsUntil - now))
    }

    private func apply(_ records: StoredRecords, _ range: Range<Int>, to partition: Int32) {
        let isAtomic = streams.transaction.isAtomic
        let piece = RestoringLedger.Piece(records: records, chunk: 0, ranges: [range])
        if let ledger = standby[partition] {
            _ = ledger.apply([piece])
            return
        }
        kept.with(partition) { ledger in
            // What follows a kept ledger counts in its order, as where one returns.
            ledger.readsInOrder = isAtomic
            let work = RestoringLedger(ledger)
            ledger = PartitionLedger()
            _ = work.apply([piece])
            guard work.unreadable.isEmpty, let read = work.takeLedger() else {
                standby.begin(partition, with: work)
                return false
            }
            ledger = read
            return true
        }
    }

    /// One with records that this version cannot read is not kept: a restore tells about it.
    private func keepStandby(_ partition: Int32, at now: Int64) {
        guard let work = standby[partition], work.unreadable.isEmpty, let ledger = work.takeLedger() else { return }
        standby.drop(partition)
        kept.keep(partition, ledger, at: now)
    }
}
