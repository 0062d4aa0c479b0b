package import AppAttest
package import Crypto
package import Streams

/// The state of one partition: the contents of the ledger topic's partition with the same number.
package struct PartitionLedger: Sendable {
    package var keys = KeyLedger()
    /// Whether records that are read follow what is known, in the order of transactions: the last one of a key counts, also
    /// where it was forgotten in between and compaction took the tombstone. Else one may have been delivered late.
    var readsInOrder = false
    /// The used challenges by SHA-256 over challenge and key ID.
    package private(set) var challenges = ConsumedIDs()
    /// The used tokens by SHA-256 over project and `jti`.
    package private(set) var tokens = ConsumedIDs()
    /// The highest evaluation time so far: challenges and ids expire by it, never by the wall clock.
    package private(set) var streamTime = EvaluationTime(milliseconds: -1)
    package private(set) var rates: [String: RateCount] = [:]
    /// Ids of the sealing keys that artifacts were issued under.
    package private(set) var sealingKeys: [UInt32: EvaluationTime] = [:]
    /// The bans by ``AppCheck/BanID``.
    package private(set) var bans: [Digest: Ban] = [:]
    /// The bans that end.
    private var endingBans = ConsumedIDs()
    /// The stream time since which uses of keys are noted; nil = they are not.
    package private(set) var usesSince: EvaluationTime?
    /// How far the ledger is looked through for keys that have ended.
    private(set) var endedPass = EndedKeys.Pass()
    /// The last record 04; nil = there is none.
    package private(set) var mark: PartitionMark?

    package init() {}

    package init(keys: KeyLedger) { self.keys = keys }

    /// Requests before this offset were applied already: at-least-once delivery does not apply them again.
    package var appliedOffset: Int64 { mark?.position.skipsBefore ?? 0 }

    /// Whether no state is remembered; the mark does not count.
    package var isEmpty: Bool {
        keys.count == 0 && consumedCount == 0 && rates.isEmpty && sealingKeys.isEmpty && bans.isEmpty
    }

    /// Keys that had ended and were left in memory when the ledger was last looked through.
    package var endedKeys: Int { endedPass.leftBefore }

    /// Used ids that are remembered.
    package var consumedCount: Int { challenges.count + tokens.count }

    /// Applies one record of the ledger topic.
    package mutating func apply(_ change: LedgerChange) {
        switch change {
        case .key(let id, let record): keys.set(id, record, mayBeLate: !readsInOrder)
        case .keyForgotten(let id): keys.remove(id)
        case .challenge(let id, let consumed): challenges.insert(id, consumed)
        case .challengeForgotten(let id): challenges.remove(id)
        case .token(let id, let consumed): tokens.insert(id, consumed)
        case .tokenForgotten(let id): tokens.remove(id)
        case .mark(let mark):
            if let time = mark.streamTime { raise(to: time) }
            (self.mark, usesSince) = (mark, mark.usesSince)
        case .markForgotten: (mark, usesSince) = (nil, nil)
        case .rate(let app, let rate): rates[app] = rate
        case .sealingKey(let id, let since): sealingKeys[id] = since
        case .sealingKeyForgotten(let id): sealingKeys[id] = nil
        case .ban(let id, let ban): set(ban, id)
        case .banLifted(let id): set(nil, id)
        }
    }

    /// Applies the changes of a committed batch.
    package mutating func apply(_ overlay: PartitionOverlay) {
        overlay.keys.forEach { id, record, isForgottenFirst in
            if isForgottenFirst { keys.remove(id) }
            if let record { keys.set(id, record) }
        }
        for (id, ban) in overlay.bans { set(ban, id) }
        for (id, consumed) in overlay.challenges { challenges.insert(id, consumed) }
        for (id, consumed) in overlay.tokens { tokens.insert(id, consumed) }
        for (app, rate) in overlay.rates { rates[app] = rate }
        for (id, since) in overlay.sealingKeys { sealingKeys[id] = since }
        for change in overlay.expired { apply(change) }
        if let time = overlay.streamTime {
            raise(to: time)
            usesSince = overlay.usesSince
            if usesSince == nil { endedPass = EndedKeys.Pass() }
        }
        if let pass = overlay.endedPass { endedPass = pass }
        if let mark = overlay.mark { self.mark = mark }
        if !overlay.expired.isEmpty { sweep() }
    }

    /// The ids that expire at a stream time, `limit` of each kind or a few more.
    package func expired(at streamTime: EvaluationTime, limit: Int) -> [LedgerChange] {
        challenges.expired(at: streamTime, limit: limit).map { .challengeForgotten($0) }
            + tokens.expired(at: streamTime, limit: limit).map { .tokenForgotten($0) }
    }

    /// The bans that have ended at a stream time, likewise.
    package func endedBans(at streamTime: EvaluationTime, limit: Int) -> [Digest] {
        endingBans.expired(at: streamTime, limit: limit)
    }

    private mutating func set(_ ban: Ban?, _ id: Digest) {
        bans[id] = ban
        endingBans.remove(id)
        if let until = ban?.until { endingBans.insert(id, ConsumedID(expiresAt: until, request: id)) }
    }

    private mutating func raise(to time: EvaluationTime) { streamTime = max(streamTime, time) }

    private mutating func sweep() {
        challenges.sweep(before: streamTime)
        tokens.sweep(before: streamTime)
        endingBans.sweep(before: streamTime)
    }
}

/// The ledger's record 04 of its partition: how far its requests were applied, by which group, and the stream time.
package struct PartitionMark: Hashable, Sendable {
    /// The highest evaluation time so far; nil = none was noted.
    package var streamTime: EvaluationTime?
    /// The stream time since which each use of a key is noted in its record; nil = uses are not noted.
    package var usesSince: EvaluationTime?
    /// The position by which a take-over decides.
    package var position: PositionMark

    package init(
        streamTime: EvaluationTime? = nil,
        usesSince: EvaluationTime? = nil,
        appliedOffset: Int64? = nil,
        group: [UInt8]? = nil,
        delivery: PositionMark.Delivery? = nil,
        identity: [UInt8]? = nil,
        writer: [UInt8]? = nil,
        partitions: Int32? = nil,
        move: [UInt8]? = nil
    ) {
        (self.streamTime, self.usesSince) = (streamTime, usesSince)
        position = PositionMark(
            appliedOffset: appliedOffset,
            group: group,
            delivery: delivery,
            identity: identity,
            writer: writer,
            partitions: partitions,
            move: move
        )
    }
}

/// The place of each partition's part in an array: a table for usual numbers, a dictionary for the others.
struct PartitionPlaces: Sendable {
    private static let tableCount: Int32 = 1024

    /// Place + 1; 0 = none.
    private var table: [UInt32] = []
    private var others: [Int32: Int] = [:]

    @inline(__always)
    subscript(partition: Int32) -> Int? {
        guard partition >= 0, partition < Self.tableCount else { return others[partition] }
        guard partition < table.count, table[Int(partition)] != 0 else { return nil }
        return Int(table[Int(partition)]) - 1
    }

    mutating func add(_ partition: Int32, place: Int) {
        guard partition >= 0, partition < Self.tableCount else { return others[partition] = place }
        let missing = Int(partition) + 1 - table.count
        if missing > 0 { table.append(contentsOf: repeatElement(0, count: missing)) }
        table[Int(partition)] = UInt32(place + 1)
    }
}
