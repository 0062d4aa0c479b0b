internal import AppAttest
internal import AppCheck
internal import Log

/// The stream time of each partition of a batch, and the ids that expire at it.
struct StreamClock {
    /// Ids forgotten per batch and partition, so that the ids of a quiet hour do not make one huge transaction.
    private static let expiryLimit = 5_000

    private var times: [Int32: EvaluationTime] = [:]

    /// Requests move the time; one ahead of the wall clock does not: it would expire the challenges of others.
    mutating func note(_ record: DecodedRecord) {
        guard case .request = record.shape, record.clockReason != .fromFuture else { return }
        let time = EvaluationTime(milliseconds: record.record.timestamp)
        let partition = record.record.partition
        if let known = times[partition], known >= time { return }
        times[partition] = time
    }

    func time(of partition: Int32) -> EvaluationTime? { times[partition] }

    func write(into overlay: inout LedgerOverlay, ledger: (Int32) -> PartitionLedger?) {
        for (partition, time) in times {
            let known = ledger(partition)
            let now = max(time, known?.streamTime ?? time)
            overlay[partition].streamTime = now
            overlay[partition].expired = known?.expired(at: now, limit: Self.expiryLimit) ?? []
        }
    }
}
