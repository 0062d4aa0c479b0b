package import AppAttest
package import Risk

/// A receipt of the simulated topic.
package struct SimulatedReceipt: Sendable, Equatable {
    package let key: Int
    package let dates: ReceiptDates
    /// How often the key had been attested by then: Apple links a chain of receipts to its attestation.
    package let attestation: Int

    package init(key: Int, dates: ReceiptDates, attestation: Int) {
        (self.key, self.dates, self.attestation) = (key, dates, attestation)
    }
}

/// The receipts topic, and the worker in front of it: it takes what is newer than the receipt it keeps of a key.
package struct ReceiptTopic: Sendable {
    /// Segment and compaction lag together.
    private static let compactionMilliseconds = 18 * Milliseconds.hour

    private struct Entry {
        let receipt: SimulatedReceipt
        var supersededAt: EvaluationTime?
    }

    private var partitions: [[Entry]]
    /// By key: the offset of its last receipt.
    private var last: [Int: Int] = [:]
    private let isCompacted: Bool

    package init(partitions: Int, isCompacted: Bool) {
        self.partitions = Array(repeating: [], count: partitions)
        self.isCompacted = isCompacted
    }

    package var partitionCount: Int { partitions.count }
    package func end(of partition: Int) -> Int64 { Int64(partitions[partition].count) }
    package func partition(of key: Int) -> Int { key % partitions.count }
    package func receipt(_ partition: Int, _ offset: Int64) -> SimulatedReceipt {
        partitions[partition][Int(offset)].receipt
    }

    /// An accepted attestation.
    package mutating func attest(_ key: Int, at time: EvaluationTime) {
        let attestation = (latest(key)?.attestation ?? 0) + 1
        let dates = ReceiptDates(
            type: .attest,
            createdAt: time,
            expiresAt: time.after(milliseconds: 90 * Milliseconds.day)
        )
        append(SimulatedReceipt(key: key, dates: dates, attestation: attestation), at: time)
    }

    /// A request `verifyReceipt`.
    ///
    /// - Parameter exchanged: the creation of the receipt that was sent.
    /// - Returns: whether it is accepted: newer than the kept one, and not the second child of an older one.
    package mutating func verify(
        _ receipt: SimulatedReceipt,
        exchanged: EvaluationTime,
        at time: EvaluationTime
    ) -> Bool {
        guard let kept = latest(receipt.key), receipt.dates.createdAt > kept.dates.createdAt,
            exchanged >= kept.dates.createdAt
        else { return false }
        append(receipt, at: time)
        return true
    }

    package func latest(_ key: Int) -> SimulatedReceipt? {
        last[key].map { partitions[partition(of: key)][$0].receipt }
    }

    /// Whether compaction has taken the record away by then.
    package func isGone(_ partition: Int, _ offset: Int64, at time: EvaluationTime) -> Bool {
        guard isCompacted, let since = partitions[partition][Int(offset)].supersededAt else { return false }
        return time.since(since) >= Self.compactionMilliseconds
    }

    private mutating func append(_ receipt: SimulatedReceipt, at time: EvaluationTime) {
        let partition = partition(of: receipt.key)
        if let before = last[receipt.key] { partitions[partition][before].supersededAt = time }
        last[receipt.key] = partitions[partition].count
        partitions[partition].append(Entry(receipt: receipt))
    }
}
