internal import AppAttest
internal import AppCheck
internal import Crypto

/// The state as a batch in Admit sees it: the committed ledger with the batch's own changes on top.
struct BatchState {
    private(set) var overlay: LedgerOverlay
    private let ledger: (Int32) -> PartitionLedger?
    private let settings: PipelineSettings
    // Keys may lie in another ledger than the rest (in replay).
    private var views = LedgerViews()
    private var clock = StreamClock()
    /// The last key that has ended, and its last use; nil = none did with the present record.
    private(set) var ended: (key: KeyID, use: EvaluationTime)?
    private var remembered: [Int32: (end: Int64, count: Int)] = [:]

    init(_ overlay: LedgerOverlay, settings: PipelineSettings, ledger: @escaping (Int32) -> PartitionLedger?) {
        (self.overlay, self.settings, self.ledger) = (overlay, settings, ledger)
    }

    /// Moves the partition's stream time on; the new time counts from then on.
    mutating func note(_ record: DecodedRecord) {
        ended = nil
        clock.note(record)
    }

    /// The highest evaluation time of a partition so far, the present record's included.
    mutating func streamTime(of partition: Int32) -> EvaluationTime {
        let place = home(partition)
        let known = views.ledgers[place].streamTime
        return max(known, clock.time(of: partition) ?? known)
    }

    /// The offset before which everything was applied already.
    mutating func appliedOffset(of partition: Int32) -> Int64 {
        let place = home(partition)
        return views.ledgers[place].appliedOffset
    }

    /// The key's record as a request with a value of this digest needs it: see ``KeyLedger/record(_:forRequestOf:)``.
    mutating func key(_ id: KeyID, on partition: Int32, forRequestOf digest: Digest) -> KeyRecord? {
        let number = settings.ledgerPartition(partition)
        let found = overlay.record(id, on: number) ?? views.record(id, forRequestOf: digest, on: number, ledger)
        return alive(found, id, on: partition)
    }

    /// The key's whole record, its last request included.
    mutating func wholeKey(_ id: KeyID, on partition: Int32) -> KeyRecord? {
        let number = settings.ledgerPartition(partition)
        return alive(overlay.record(id, on: number) ?? ledger(number)?.keys[id], id, on: partition)
    }

    /// A key that has ended is unknown, whether it is in memory still or not, and is forgotten with the batch: no outcome
    /// depends on batches, or on how far the ledger was looked through.
    private mutating func alive(_ record: consuming KeyRecord?, _ id: KeyID, on partition: Int32) -> KeyRecord? {
        guard settings.keys.expire, let record else { return record }
        let number = settings.ledgerPartition(partition)
        let (keys, times, now) = (home(number), home(partition), streamTime(of: partition))
        var issuedAt = record.lastRequest?.issuedAt ?? 0
        if record.lastUse == 0, record.lastRequest == nil { issuedAt = views.ledgers[keys].keys.lastIssue(of: id) }
        // Uses are noted from the first record on, however batches end.
        let known = views.ledgers[times].streamTime
        let since = views.ledgers[times].usesSince ?? max(known, clock.firstTime(of: partition) ?? known)
        let use = KeySettings.use(record.lastUse, issuedAt: issuedAt, usesSince: since)
        guard settings.keys.hasEnded(use, at: now) else { return record }
        ended = use.map { (id, $0) }
        overlay.forget(id, on: number)
        overlay.noteEnded(record.app)
        return nil
    }

    /// The time of a key's use, by the clock by which keys end; 0 while they do not: a note would soon be too old.
    mutating func use(on partition: Int32) -> UInt32 {
        settings.keys.expire ? UInt32(clamping: streamTime(of: partition).milliseconds / 1000) : 0
    }

    mutating func set(_ key: consuming KeyRecord, of id: KeyID, on partition: Int32) {
        overlay.set(id, key, on: settings.ledgerPartition(partition))
    }

    /// Forgets what the ledger has of a key; with the key's own next request it is a stranger's.
    mutating func forget(_ id: KeyID, on partition: Int32) {
        let number = settings.ledgerPartition(partition)
        let isHere = overlay.record(id, on: number) != nil || views.lookup(id, on: number, ledger) != .unknown
        if isHere { overlay.forget(id, on: number) }
    }

    // MARK: Bans

    /// The ban of a key, or of the installation that its request carries, that has not ended at the partition's stream
    /// time. Without bans it hashes nothing.
    mutating func ban(of keyID: KeyID?, _ installation: ExactText?, on partition: Int32) -> Ban? {
        let number = settings.ledgerPartition(partition)
        if let keyID, hasBans(on: number), let ban = ban(BanID.key(keyID), at: number, partition) { return ban }
        guard let installation, hasBans(on: partition) else { return nil }
        return ban(BanID.installation(installation), at: partition, partition)
    }

    mutating func mayHaveBans(on partition: Int32) -> Bool {
        let number = settings.ledgerPartition(partition)
        return hasBans(on: number) || (number != partition && hasBans(on: partition))
    }

    /// - Parameter ban: nil lifts it.
    mutating func set(_ ban: Ban?, of command: OperatorCommand, on partition: Int32) {
        let number = place(of: command, partition)
        let known = self.ban(command.subject.banID, at: number, partition)
        guard var ban else {
            if known != nil { overlay[number].bans[command.subject.banID] = .some(nil) }
            return
        }
        if let known {
            // A ban that is repeated keeps its time; the last command says when it ends.
            guard known.until != ban.until else { return }
            ban.since = known.since
        }
        overlay[number].bans[command.subject.banID] = ban
    }

    /// A key's ban lies with the key, an installation's on each partition.
    private func place(of command: OperatorCommand, _ partition: Int32) -> Int32 {
        if case .key = command.subject { settings.ledgerPartition(partition) } else { partition }
    }

    private mutating func hasBans(on number: Int32) -> Bool {
        let place = home(number)
        return !views.ledgers[place].bans.isEmpty || overlay.hasBans(on: number)
    }

    private mutating func ban(_ id: Digest, at number: Int32, _ partition: Int32) -> Ban? {
        let place = home(number)
        let known = overlay.ban(id, on: number) ?? views.ledgers[place].bans[id]
        guard let known, known.counts(at: streamTime(of: partition)) else { return nil }
        return known
    }

    mutating func note(_ act: OperatorAct) { overlay.acts.append(act) }

    mutating func challenge(_ id: Digest, on partition: Int32) -> ConsumedID? {
        let place = home(partition)
        return overlay.challenge(id, on: partition) ?? views.ledgers[place].challenges[id]
    }

    mutating func consume(challenge id: Digest, _ consumed: ConsumedID, on partition: Int32) {
        overlay[partition].challenges[id] = consumed
    }

    mutating func token(_ id: Digest, on partition: Int32) -> ConsumedID? {
        let place = home(partition)
        return overlay.token(id, on: partition) ?? views.ledgers[place].tokens[id]
    }

    mutating func consume(token id: Digest, _ consumed: ConsumedID, on partition: Int32) {
        overlay[partition].tokens[id] = consumed
        remembered[partition]?.count += 1
    }

    /// How many used tokens a partition remembers at its stream time. Expired ones do not count, whether a batch has
    /// forgotten them yet or not: no answer may depend on where batches end.
    mutating func rememberedTokens(on partition: Int32) -> Int {
        let time = streamTime(of: partition)
        let end = ConsumedIDs.bucketEnd(time)
        if let known = remembered[partition], known.end == end { return known.count }
        let own = overlay.tokenCount(after: time, on: partition)
        let place = home(partition)
        let count = own + views.ledgers[place].tokens.count(after: time)
        remembered[partition] = (end, count)
        return count
    }

    mutating func rate(_ name: String, on partition: Int32) -> RateCount? {
        let place = home(partition)
        return overlay.rate(name, on: partition) ?? views.ledgers[place].rates[name]
    }

    mutating func set(rate: RateCount, of name: String, on partition: Int32) {
        overlay[partition].rates[name] = rate
    }

    /// Notes a key that sealed artifacts: from then on the configuration must not lack it.
    mutating func note(sealingKey id: UInt32, at time: EvaluationTime, on partition: Int32) {
        let place = home(partition)
        let known = views.ledgers[place].sealingKeys[id]
        guard !overlay.hasSealingKey(id, on: partition), known == nil else { return }
        overlay[partition].sealingKeys[id] = time
    }

    /// Asked for before the array is read: it may grow.
    private mutating func home(_ partition: Int32) -> Int { views.place(of: partition, ledger) }

    /// The overlay with the stream times, the expired ids and the keys that have ended.
    mutating func finish() -> LedgerOverlay {
        clock.write(into: &overlay, settings, ledger: ledger)
        return overlay
    }
}
