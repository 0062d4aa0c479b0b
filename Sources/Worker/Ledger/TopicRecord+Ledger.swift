internal import Kafka
internal import Pipeline

extension TopicRecord {
    /// What the record says; nil where it takes away something that this version could not have read.
    ///
    /// - Throws: ``LedgerFault``.
    func ledgerChange() throws -> LedgerChange? {
        guard let key else { throw LedgerFault(partition: partition, reason: "it has no key") }
        do throws(LedgerCodec.Fault) { return try LedgerCodec.decode(key: key, value: value) } catch {
            guard value != nil else { return nil }
            throw LedgerFault(partition: partition, reason: error.reason)
        }
    }
}
