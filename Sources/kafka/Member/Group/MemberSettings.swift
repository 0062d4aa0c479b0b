package import KafkaPorts

/// The settings of a member, in addition to its ports.
package struct MemberSettings: Sendable {
    package var delivery: OutputWriter.Settings.Delivery
    /// `group.id`.
    package var group: String
    /// The name by which the group knows this instance over restarts.
    package var stableID: String
    /// The topic of the requests, and that of the ledgers.
    package var requests: String
    package var ledger: String
    /// Partitions of each topic at the worker's start: if a count changes, the member ends. nil = any.
    package var partitions: Int32?
    /// The sentence about topics whose partition counts are others than at the start; nil = they are the same.
    package var countsChanged: @Sendable (_ counts: [String: Int], _ started: Int32) -> String? = { _, _ in nil }
    /// The longest that a batch's output may take.
    package var outputMilliseconds: Int64 = 60_000
    /// How many records are kept while none can be handed out: two minutes' worth, more than an output's default time.
    package var mostPending = 512
    /// Whether contradicting positions hold their partition; false for the embedded broker, which forgets.
    package var guardsPositions = true
    /// Whether offsets are committed a second time, outside the transaction: the embedded broker drops those in it.
    package var commitsOffsetsAside = false
    /// Adds the missing right to a refusal. `reading` = the topic that was being read; nil = outputs were being written.
    package var explain: @Sendable (_ fault: KafkaFault, _ reading: String?) -> KafkaFault = { fault, _ in fault }
    /// Called with every fault that is ridden out.
    package var trouble: @Sendable (KafkaFault) -> Void = { _ in }
    /// How many members each machine has, where ledgers are followed that would be ours if one were gone; nil = none are.
    package var standbyLoops: Int?
    /// Makes the identity of a ledger whose marks have none: 16 random bytes.
    package var makeIdentity: @Sendable () -> [UInt8]
    /// Called for each ledger that is whole.
    package var restoredFrom: @Sendable (LedgerSource) -> Void = { _ in }
    /// Called at the end of each restore with its number of records.
    package var restored: @Sendable (Int) -> Void = { _ in }

    package init(
        delivery: OutputWriter.Settings.Delivery,
        group: String,
        stableID: String,
        requests: String,
        ledger: String,
        makeIdentity: @escaping @Sendable () -> [UInt8]
    ) {
        (self.delivery, self.group, self.stableID) = (delivery, group, stableID)
        (self.requests, self.ledger, self.makeIdentity) = (requests, ledger, makeIdentity)
    }
}
