internal import AppAttest
internal import AppCheck
internal import Streams

/// The stream time of each partition of a batch, and the ids that expire at it.
struct StreamClock {
    /// Ids forgotten per batch and partition, so that the ids of a quiet hour do not make one huge transaction.
    private static let expiryLimit = 5_000

    private var places = PartitionPlaces()
    private var times: [(partition: Int32, time: EvaluationTime)] = []

    /// Requests move the time; one ahead of the wall clock does not: it would expire the challenges of others.
    mutating func note(_ record: DecodedRecord) {
        guard record.verb != nil || record.command != nil, record.clockReason != .fromFuture else { return }
        let time = EvaluationTime(milliseconds: record.record.timestamp)
        let partition = record.record.partition
        if let place = places[partition] {
            if times[place].time < time { times[place].time = time }
        } else {
            places.add(partition, place: times.count)
            times.append((partition, time))
        }
    }

    func time(of partition: Int32) -> EvaluationTime? { places[partition].map { times[$0].time } }

    /// - Parameter forgetsBans: whether bans end by the time of the ledger's own partition. In a shared ledger each ends by
    ///   the time of its requests' partition, and is kept.
    func write(into overlay: inout LedgerOverlay, forgetsBans: Bool, ledger: (Int32) -> PartitionLedger?) {
        for (partition, time) in times {
            let known = ledger(partition)
            let now = max(time, known?.streamTime ?? time)
            overlay[partition].streamTime = now
            overlay[partition].expired = known?.expired(at: now, limit: Self.expiryLimit) ?? []
            let ended = forgetsBans ? known?.endedBans(at: now, limit: Self.expiryLimit) ?? [] : []
            // One that this batch renews, or lifts, is no longer the ledger's.
            for id in ended where overlay.ban(id, on: partition) == nil {
                overlay[partition].expired.append(.banLifted(id))
            }
        }
    }
}
