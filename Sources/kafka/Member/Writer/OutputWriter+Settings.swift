package import KafkaPorts

extension OutputWriter {
    package struct Settings: Sendable {
        package enum Delivery: Sendable { case transaction, atLeastOnce }

        package var delivery: Delivery
        /// The name that sentences give.
        package var transactionalID: String
        package var isStaticMember: Bool
        /// How long taking the id over may take while an output waits, and before it is reported.
        package var takeOverMilliseconds: Int64 = 5_000
        /// How long an abort waits for records in flight before it gives its producer up.
        package var abortMilliseconds: Int64 = 2_000
        /// Whether offsets are committed a second time, outside the transaction: the embedded broker drops those in it.
        package var commitsOffsetsAside = false
        /// Adds the missing right to a refusal.
        package var explain: @Sendable (KafkaFault) -> KafkaFault

        package init(
            delivery: Delivery,
            transactionalID: String,
            isStaticMember: Bool,
            explain: @escaping @Sendable (KafkaFault) -> KafkaFault = { $0 }
        ) {
            (self.delivery, self.transactionalID) = (delivery, transactionalID)
            (self.isStaticMember, self.explain) = (isStaticMember, explain)
        }
    }
}
