internal import AppAttest
internal import AppCheck

/// The stream time of each partition of a batch, and what may be forgotten at it.
struct StreamClock {
    /// Ids forgotten per batch and partition, so that a quiet hour's worth is no single huge transaction.
    private static let expiryLimit = 5_000

    private var times: [Int32: EvaluationTime] = [:]

    /// Requests move the time; what lies ahead of the wall clock does not: it would end others' challenges.
    mutating func note(_ record: DecodedRecord) {
        guard case .request = record.shape, record.clockReason != .fromFuture else { return }
        let time = EvaluationTime(milliseconds: record.record.timestamp)
        let partition = record.record.partition
        if let known = times[partition], known >= time { return }
        times[partition] = time
    }

    func write(into overlay: inout LedgerOverlay, ledger: (Int32) -> PartitionLedger?) {
        for (partition, time) in times {
            let known = ledger(partition)
            let now = max(time, known?.streamTime ?? time)
            overlay[partition].streamTime = now
            overlay[partition].expired = known?.expired(at: now, limit: Self.expiryLimit) ?? []
        }
    }
}
