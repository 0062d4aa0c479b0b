internal import AppAttest
internal import Crypto

/// The ledgers that a batch has asked for. Each is copied once for the batch, since a copy touches a dozen counts, and
/// read in place.
struct LedgerViews {
    private static let empty = PartitionLedger()

    private var places = PartitionPlaces()
    /// An empty one stands for none.
    private(set) var ledgers: [PartitionLedger] = []

    /// The place of a partition's ledger in ``ledgers``.
    @inline(__always)
    mutating func place(of partition: Int32, _ find: (Int32) -> PartitionLedger?) -> Int {
        places[partition] ?? add(partition, find(partition))
    }

    /// See ``KeyLedger/lookup(_:)``.
    mutating func lookup(_ key: KeyID, on partition: Int32, _ find: (Int32) -> PartitionLedger?) -> KeyLedger.Lookup {
        let place = place(of: partition, find)
        return ledgers[place].keys.lookup(key)
    }

    /// See ``KeyLedger/record(_:forRequestOf:)``.
    mutating func record(
        _ key: KeyID,
        forRequestOf digest: Digest,
        on partition: Int32,
        _ find: (Int32) -> PartitionLedger?
    ) -> KeyRecord? {
        let place = place(of: partition, find)
        return ledgers[place].keys.record(key, forRequestOf: digest)
    }

    private mutating func add(_ partition: Int32, _ ledger: PartitionLedger?) -> Int {
        places.add(partition, place: ledgers.count)
        ledgers.append(ledger ?? Self.empty)
        return ledgers.count - 1
    }
}
