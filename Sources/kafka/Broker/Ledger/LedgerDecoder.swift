internal import KafkaPorts
internal import Pipeline

/// Reads the ledger topic's records one after the other. A record that cannot be read is a fault only if it still
/// stands at the end: one that was replaced, or forgotten by `reset`, may precede its successor for a while.
struct LedgerDecoder {
    /// A topic with more of them holds something other than a ledger.
    private static let maxUnreadable = 1_000

    private struct Place: Hashable {
        let partition: Int32
        let key: [UInt8]
    }

    private var unreadable: [Place: LedgerFault] = [:]

    /// The record's change; nil where it cannot be read.
    ///
    /// - Throws: ``LedgerFault`` for a record without a key, or when there are too many faults to remember.
    mutating func change(of record: TopicRecord) throws -> LedgerChange? {
        guard let key = record.key else { throw LedgerFault(partition: record.partition, reason: "it has no key") }
        let place = Place(partition: record.partition, key: key)
        do throws(LedgerCodec.Fault) {
            let change = try LedgerCodec.decode(key: key, value: record.value)
            if !unreadable.isEmpty { unreadable[place] = nil }
            return change
        } catch {
            let fault = LedgerFault(partition: record.partition, reason: error.reason)
            unreadable[place] = record.value == nil ? nil : fault
            guard unreadable.count <= Self.maxUnreadable else { throw fault }
            return nil
        }
    }

    /// - Throws: ``LedgerFault`` for a record that was not replaced and cannot be read.
    func finish() throws {
        if let fault = unreadable.values.min(by: { $0.partition < $1.partition }) { throw fault }
    }
}
