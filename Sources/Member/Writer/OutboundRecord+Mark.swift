internal import Log
internal import Pipeline

extension OutboundRecord {
    /// Makes a ledger partition forget up to where its requests were applied.
    static func forgottenMark(of partition: Int32) -> OutboundRecord {
        let (key, value) = LedgerCodec.encode(.markForgotten)
        return OutboundRecord(
            stream: .ledger,
            partition: partition,
            sourceOffset: -1,
            sourceTimestamp: -1,
            key: key,
            value: value
        )
    }
}
