internal import Streams
internal import Threads

/// A ledger while its records are read back. One lane at a time works on it; between two works the loop may look: queues
/// hand it over.
final class RestoringLedger: @unchecked Sendable {
    /// Records of this ledger's partitions, in their order.
    struct Piece: Sendable {
        let records: StoredRecords
        /// The number of the chunk that they came with.
        let chunk: Int
        /// The ranges of the records' places.
        let ranges: [Range<Int>]

        var count: Int { ranges.reduce(0) { $0 + $1.count } }
    }

    private var owner = Owner("RestoringLedger")
    private var ledger: PartitionLedger?
    private(set) var unreadable = UnreadableRecords()

    init(_ ledger: PartitionLedger) { self.ledger = ledger }

    /// Moves the ledger out: nothing else refers to its tables then.
    func takeLedger() -> PartitionLedger? { ledger.take() }

    /// - Returns: how many records were applied.
    func apply(_ pieces: [Piece]) -> Int {
        owner.check()
        defer { owner.release() }
        guard var ledger = ledger.take() else { preconditionFailure("one lane works, and the loop waits for it") }
        for piece in pieces {
            let bytes = piece.records.bytes.span
            for range in piece.ranges {
                for index in range { apply(piece.records.places[index], bytes, to: &ledger) }
            }
        }
        self.ledger = ledger
        return pieces.reduce(0) { $0 + $1.count }
    }

    private func apply(_ place: StoredRecords.Place, _ bytes: Span<UInt8>, to ledger: inout PartitionLedger) {
        do throws(LedgerCodec.Fault) {
            try ledger.apply(place, bytes)
            if !unreadable.isEmpty { unreadable.remove(place.partition, key: place.key.map { bytes[$0] }) }
        } catch {
            let key = place.key.map { bytes[$0] }
            // A reset deletes unreadable records too.
            guard place.value != nil else { return unreadable.remove(place.partition, key: key) }
            unreadable.add(LedgerFault(partition: place.partition, reason: error.reason), key: key)
        }
    }
}
