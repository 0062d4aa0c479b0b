package import AppAttest
internal import AppCheck
package import Crypto
internal import Kafka
internal import KafkaPorts
package import Pipeline

/// `bans`: the bans that the ledger topic has.
package struct BanList {
    /// One key's or installation's ban, on each partition that has it.
    package struct Entry {
        package let id: Digest
        package let kind: Ban.Kind
        /// nil for an installation, of which the ledger has a hash only, and for a key that it does not have.
        package fileprivate(set) var key: KeyID?
        /// The bans by partition.
        package fileprivate(set) var places: [Int32: Ban] = [:]
    }

    /// The earliest first.
    package let entries: [Entry]
    package let partitions: Int32

    /// Reads the ledger up to the ends that it has now. Bans that have ended at their partition's stream time are left
    /// out, whether a worker has removed them yet or not.
    ///
    /// - Parameter progress: called with the number of ledger records read.
    package init(_ access: LedgerAccess, progress: (Int) -> Void) throws {
        partitions = try access.partitionCount()
        var (bans, times) = ([Int32: [Digest: Ban]](), [Int32: EvaluationTime]())
        // Every key could be one of a ban that comes later.
        var keys: Set<KeyID> = []
        try LedgerReader(access, partitions: partitions).changes(progress: progress) { change, record in
            switch change {
            case .key(let id, _): keys.insert(id)
            case .ban(let id, let ban): bans[record.partition, default: [:]][id] = ban
            case .banLifted(let id): bans[record.partition]?[id] = nil
            case .mark(let mark):
                times[record.partition] = max(times[record.partition] ?? .first, mark.streamTime ?? .first)
            default: break
            }
        }
        entries = Self.entries(bans, times, bans.values.allSatisfy(\.isEmpty) ? [] : keys)
    }

    private static func entries(
        _ bans: [Int32: [Digest: Ban]],
        _ times: [Int32: EvaluationTime],
        _ keys: Set<KeyID>
    ) -> [Entry] {
        var entries: [Digest: Entry] = [:]
        for (partition, own) in bans {
            for (id, ban) in own where ban.counts(at: times[partition] ?? .first) {
                entries[id, default: Entry(id: id, kind: ban.kind)].places[partition] = ban
            }
        }
        for key in keys where !entries.isEmpty { entries[BanID.key(key)]?.key = key }
        return entries.values.sorted { left, right in
            left.since == right.since ? left.id.words < right.id.words : left.since < right.since
        }
    }
}

extension BanList.Entry {
    package var since: EvaluationTime { places.values.map(\.since).min() ?? .first }
}

extension EvaluationTime {
    /// A time before every record's.
    fileprivate static let first = EvaluationTime(milliseconds: -1)
}
