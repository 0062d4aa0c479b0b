internal import Kafka
internal import Pipeline

extension TopicRecord {
    /// What the record says.
    ///
    /// - Throws: ``LedgerFault``.
    func ledgerChange() throws -> LedgerChange {
        guard let key else { throw LedgerFault(partition: partition, reason: "it has no key") }
        do throws(LedgerCodec.Fault) { return try LedgerCodec.decode(key: key, value: value) } catch {
            throw LedgerFault(partition: partition, reason: error.reason)
        }
    }
}
