internal import AppAttest
internal import AppCheck
internal import Streams

/// The stream time of each partition of a batch, and the ids and keys that end at it.
struct StreamClock {
    private struct Entry {
        let partition: Int32
        /// The time of the first record.
        let first: EvaluationTime
        var time: EvaluationTime
        var records = 1
    }

    /// Ids forgotten per batch and partition, so that the ids of a quiet hour do not make one huge transaction.
    private static let expiryLimit = 5_000
    /// Keys that have ended and are forgotten per batch and partition, or a quarter of its requests there.
    private static let leastEnded = 16

    private var places = PartitionPlaces()
    private var times: [Entry] = []

    /// Requests move the time; one ahead of the wall clock does not: it would expire the challenges of others.
    mutating func note(_ record: DecodedRecord) {
        guard record.verb != nil || record.command != nil, record.clockReason != .fromFuture else { return }
        let time = EvaluationTime(milliseconds: record.record.timestamp)
        let partition = record.record.partition
        if let place = places[partition] {
            if times[place].time < time { times[place].time = time }
            times[place].records += 1
        } else {
            places.add(partition, place: times.count)
            times.append(Entry(partition: partition, first: time, time: time))
        }
    }

    func time(of partition: Int32) -> EvaluationTime? { places[partition].map { times[$0].time } }

    func firstTime(of partition: Int32) -> EvaluationTime? { places[partition].map { times[$0].first } }

    func write(into overlay: inout LedgerOverlay, _ settings: PipelineSettings, ledger: (Int32) -> PartitionLedger?) {
        for entry in times {
            let (partition, known) = (entry.partition, ledger(entry.partition))
            let now = max(entry.time, known?.streamTime ?? entry.time)
            overlay[partition].streamTime = now
            overlay[partition].expired = known?.expired(at: now, limit: Self.expiryLimit) ?? []
            if settings.keys.expire {
                let first = max(entry.first, known?.streamTime ?? entry.first)
                overlay[partition].usesSince = known?.usesSince ?? first
            }
            // In a shared ledger bans and keys end by the time of their requests' partition, and are kept.
            guard let known, !settings.sharesLedger else { continue }
            // One that this batch renews, or lifts, is no longer the ledger's.
            for id in known.endedBans(at: now, limit: Self.expiryLimit) where overlay.ban(id, on: partition) == nil {
                overlay[partition].expired.append(.banLifted(id))
            }
            if settings.keys.expire { Self.end(entry, at: now, known, settings.keys, &overlay) }
        }
    }

    /// Forgets keys that have ended, among the slots that are next: few, so that the first pass after a change of the
    /// setting does not make huge transactions.
    private static func end(
        _ entry: Entry,
        at now: EvaluationTime,
        _ known: PartitionLedger,
        _ settings: KeySettings,
        _ overlay: inout LedgerOverlay
    ) {
        let (partition, since) = (entry.partition, overlay[entry.partition].usesSince)
        let (pass, records) = (known.endedPass, entry.records)
        let found = known.keys.ended(after: pass, records: records, least: leastEnded) { lastUse, issuedAt in
            settings.hasEnded(KeySettings.use(lastUse, issuedAt: issuedAt, usesSince: since), at: now)
        } isChanged: {
            overlay.record($0, on: partition) != nil
        }
        overlay[partition].endedPass = found.pass
        for key in found.keys {
            overlay[partition].expired.append(.keyForgotten(key.id))
            overlay.noteEnded(key.app)
        }
    }
}
