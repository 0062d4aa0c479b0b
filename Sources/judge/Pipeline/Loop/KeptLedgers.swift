/// Ledgers of partitions that were given away, kept for a while, and of those that a standby follows.
///
/// Their age is elapsed time, sleep included: neither a wall clock that was set nor a machine that slept makes an old
/// ledger young.
package struct KeptLedgers {
    /// Longer than a rolling restart of the group, shorter than the topic keeps its tombstones.
    package static let milliseconds: Int64 = 15 * 60_000

    private var ledgers: [Int32: (ledger: PartitionLedger, since: Int64?)] = [:]

    package init() {}

    package var count: Int { ledgers.count }
    package var partitions: Set<Int32> { Set(ledgers.keys) }

    /// - Parameter now: milliseconds of a clock that never goes back; nil = ledgers do not age.
    package mutating func keep(_ partition: Int32, _ ledger: PartitionLedger, at now: Int64?) {
        ledgers[partition] = (ledger, now)
        sweep(at: now)
    }

    package mutating func has(_ partition: Int32, at now: Int64?) -> Bool {
        sweep(at: now)
        return ledgers[partition] != nil
    }

    package mutating func take(_ partition: Int32) -> PartitionLedger? {
        ledgers.removeValue(forKey: partition)?.ledger
    }

    /// Reads on in a ledger, which does not make it younger.
    ///
    /// - Parameter body: says whether it is kept.
    package mutating func with(_ partition: Int32, _ body: (inout PartitionLedger) -> Bool) {
        guard var kept = ledgers.removeValue(forKey: partition) else { return }
        if body(&kept.ledger) { ledgers[partition] = kept }
    }

    /// Notes that a ledger is as the topic is.
    package mutating func renew(_ partition: Int32, at now: Int64?) { ledgers[partition]?.since = now }

    package mutating func drop(_ partition: Int32) { ledgers[partition] = nil }

    /// Drops ledgers that are too old.
    package mutating func sweep(at now: Int64?) {
        guard !ledgers.isEmpty, let now else { return }
        assert(ledgers.values.allSatisfy { $0.since ?? now <= now }, "elapsed time never goes back")
        ledgers = ledgers.filter { now - ($0.value.since ?? now) <= Self.milliseconds }
    }
}

extension BatchLoop {
    /// How many partitions given away have their ledger kept.
    package var keptLedgers: Int { kept.count }
}
