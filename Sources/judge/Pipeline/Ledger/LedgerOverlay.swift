package import AppAttest
package import Crypto
internal import Streams

/// The changes of one uncommitted batch: read before the ledger, dropped on an abort.
package struct LedgerOverlay: Sendable {
    private var places = PartitionPlaces()
    private var numbers: [Int32] = []
    /// The partitions' parts, in an array, whose elements are read and changed in place: a dictionary's getter copies
    /// them.
    private var parts: [PartitionOverlay] = []
    /// The commands of operators that take effect with the batch, in its order.
    package internal(set) var acts: [OperatorAct] = []
    /// How many keys have ended, by the app that they were bound to; empty = to none.
    package private(set) var ended: [String: Int] = [:]

    package init() {}

    /// Copies: what is asked for every record has a function. A coroutine must not read: Swift 6.3 looks at a large member
    /// of what one has yielded after its end.
    package subscript(partition: Int32) -> PartitionOverlay {
        get { places[partition].map { parts[$0] } ?? PartitionOverlay() }
        _modify { yield &parts[place(of: partition)] }
    }

    func hasBans(on partition: Int32) -> Bool { places[partition].map { !parts[$0].bans.isEmpty } ?? false }

    /// nil in it = lifted.
    func ban(_ id: Digest, on partition: Int32) -> Ban?? { places[partition].flatMap { parts[$0].bans[id] } }

    func challenge(_ id: Digest, on partition: Int32) -> ConsumedID? {
        places[partition].flatMap { parts[$0].challenges[id] }
    }

    func token(_ id: Digest, on partition: Int32) -> ConsumedID? { places[partition].flatMap { parts[$0].tokens[id] } }

    /// The used tokens that are remembered after a time.
    func tokenCount(after time: EvaluationTime, on partition: Int32) -> Int {
        guard let place = places[partition] else { return 0 }
        return parts[place].tokens.values.count { ConsumedIDs.bucketEnd($0.expiresAt) > time.milliseconds }
    }

    func rate(_ name: String, on partition: Int32) -> RateCount? { places[partition].flatMap { parts[$0].rates[name] } }

    func hasSealingKey(_ id: UInt32, on partition: Int32) -> Bool {
        places[partition].map { parts[$0].sealingKeys[id] != nil } ?? false
    }

    /// The key's record, if this batch has changed it; nil in it = forgotten. Mutating like ``KeyLedger/lookup(_:)``.
    mutating func record(_ key: KeyID, on partition: Int32) -> KeyRecord?? {
        guard let place = places[partition] else { return nil }
        return parts[place].keys.record(key)
    }

    package mutating func set(_ key: KeyID, _ record: consuming KeyRecord, on partition: Int32) {
        parts[place(of: partition)].keys.set(key, record)
    }

    package mutating func forget(_ key: KeyID, on partition: Int32) {
        parts[place(of: partition)].keys.forget(key)
    }

    mutating func noteEnded(_ app: String?) { ended[app ?? "", default: 0] += 1 }

    package var partitions: [Int32] { numbers.sorted() }

    private mutating func place(of partition: Int32) -> Int {
        if let place = places[partition] { return place }
        places.add(partition, place: parts.count)
        numbers.append(partition)
        parts.append(PartitionOverlay())
        return parts.count - 1
    }

    /// The records for the ledger topic, by partition, in the order in which they must be written.
    package func changes() -> [(partition: Int32, change: LedgerChange)] {
        var changes: [(partition: Int32, change: LedgerChange)] = []
        changes.reserveCapacity(parts.reduce(0) { $0 + $1.keys.count + 2 })
        for partition in partitions {
            guard let place = places[partition] else { continue }
            parts[place].eachChange { changes.append((partition, $0)) }
        }
        return changes
    }
}

/// The changes of one partition.
package struct PartitionOverlay: Sendable {
    package var keys = KeyChanges()
    package var challenges: [Digest: ConsumedID] = [:]
    package var tokens: [Digest: ConsumedID] = [:]
    package var rates: [String: RateCount] = [:]
    package var sealingKeys: [UInt32: EvaluationTime] = [:]
    /// nil in it = lifted.
    package var bans: [Digest: Ban?] = [:]
    /// Expired ids and keys that have ended, to be forgotten here and on the topic.
    package var expired: [LedgerChange] = []
    /// The highest evaluation time that this batch has seen; nil = nothing higher than before.
    package var streamTime: EvaluationTime?
    /// ``PartitionMark/usesSince``, with a stream time.
    var usesSince: EvaluationTime?
    /// nil = nothing was looked through.
    var endedPass: EndedKeys.Pass?
    /// How far the partition is when the batch is committed; nil = the source has no group, and is atomic.
    package var mark: PartitionMark?
    /// Written before everything else; nil = not needed.
    package var firstMark: PartitionMark?

    package init() {}

    /// Each change once, and no copy of a record but the one that its change has.
    fileprivate func eachChange(_ body: (consuming LedgerChange) -> Void) {
        if let firstMark { body(.mark(firstMark)) }
        keys.eachChange(body)
        for (id, ban) in bans { body(ban.map { .ban(id, $0) } ?? .banLifted(id)) }
        for (id, consumed) in challenges { body(.challenge(id, consumed)) }
        for (id, consumed) in tokens { body(.token(id, consumed)) }
        for (app, rate) in rates { body(.rate(app: app, rate)) }
        for (id, since) in sealingKeys { body(.sealingKey(id, since: since)) }
        // Written where an id is forgotten because it expired, so that a restored ledger never accepts the id again.
        guard let mark else {
            guard !expired.isEmpty else { return }
            expired.forEach(body)
            return body(.mark(PartitionMark(streamTime: streamTime, usesSince: usesSince)))
        }
        // Without a transaction the topic may end at any record, so the mark stands after all that was applied and
        // before all that is forgotten. Ids that were not forgotten then are forgotten with the next batch.
        let isWhole = mark.position.delivery == .transaction
        if isWhole { expired.forEach(body) }
        body(.mark(mark))
        if !isWhole { expired.forEach(body) }
    }
}
