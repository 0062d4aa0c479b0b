internal import AppAttest
internal import AppCheck
internal import Crypto
package import Kafka
package import Pipeline
package import Streams

/// Where keys lie: on how many partitions, by which partitioner.
package struct KeyHomes: Sendable {
    package let partitioner: Partitioner
    package let partitions: Int32

    package init(_ partitioner: Partitioner, _ partitions: Int32) {
        (self.partitioner, self.partitions) = (partitioner, partitions)
    }

    func home(of id: KeyID) -> Int32 { partitioner.partition(of: id.recordKey, count: partitions) }
}

/// A ledger's records for another number of partitions: keys, and whatever refuses a second use.
///
/// A key goes to its new partition, with its ban. Used challenges and tokens, and bans of keys that the ledger does not
/// have, name no key: they go to each partition where their requests may come now.
package struct MovedLedger {
    private let old: KeyHomes
    private let new: KeyHomes
    private var keys: [StoredKeys]
    /// Used challenges and tokens, and sealing keys in use, as written.
    private var others: [[[UInt8]: [UInt8]]]
    package private(set) var marks: [Int32: PartitionMark] = [:]
    /// The highest of all partitions: what had expired on one is accepted on none.
    private var streamTime: EvaluationTime?
    /// A request of an old partition may come to the new ones that lie so many apart.
    private var step: Int32 = 1
    /// Keys that lie on several partitions with records that no rule joins: one of them is left out.
    package private(set) var conflicts = 0

    package init(_ old: KeyHomes, to new: KeyHomes) {
        (self.old, self.new) = (old, new)
        keys = [StoredKeys](repeating: StoredKeys(), count: Int(old.partitions))
        others = [[[UInt8]: [UInt8]]](repeating: [:], count: Int(old.partitions))
    }

    /// Takes the ledger's records, in their order.
    package mutating func take(_ change: LedgerChange, of partition: Int32) {
        let place = Int(partition)
        switch change {
        case .key(let id, let record): keys[place].set(id, record)
        case .keyForgotten(let id): keys[place].remove(id)
        case .ban(let id, let ban): keys[place].set(ban, id)
        case .banLifted(let id): keys[place].set(nil, id)
        case .mark(let mark):
            marks[partition] = mark
            streamTime = mark.streamTime.map { max($0, streamTime ?? $0) } ?? streamTime
        case .markForgotten: marks[partition] = nil
        // The window is over by then.
        case .rate: break
        case .challenge, .token, .sealingKey, .challengeForgotten, .tokenForgotten, .sealingKeyForgotten:
            let (key, value) = LedgerCodec.encode(change)
            others[place][key] = value
        }
    }

    package func isEmpty(_ partition: Int32) -> Bool {
        let place = Int(partition)
        guard keys.indices.contains(place) else { return true }
        return keys[place].count == 0 && keys[place].bans.isEmpty && others[place].isEmpty
    }

    /// The position in a partition's mark; nil = no worker has left one, though a move may have marked the partition.
    package func position(of partition: Int32) -> PositionMark? {
        guard let position = marks[partition]?.position else { return nil }
        let isMoves = position.partitions ?? 0 < 0
        return isMoves && position.appliedOffset == nil && position.group == nil ? nil : position
    }

    /// Called once everything was taken. Joins the records of keys that lie on several partitions: partitions were added,
    /// and an older version went on. Of two that no rule joins the one at its home stays; it opens no counter that the other
    /// has used.
    package mutating func join() {
        let placed = placed
        let homes = KeyHomes(old.partitioner, placed ?? old.partitions)
        if let placed, old.partitioner == new.partitioner { step = Self.commonDivisor(placed, new.partitions) }
        for place in keys.indices {
            for id in keys[place].ids where homes.home(of: id) != place {
                guard let stray = keys[place][id] else { continue }
                // What was used beside it may lie anywhere as well.
                step = 1
                let home = Int(homes.home(of: id))
                switch KeyMerge(stray, into: keys[home][id]) {
                case .write(let joined): keys[home].set(id, joined)
                case .unchanged: break
                case .kept:
                    conflicts += 1
                    guard var kept = keys[home][id] else { break }
                    kept.counters = kept.counters.joined(stray.counters)
                    keys[home].set(id, kept)
                }
                keys[place].remove(id)
            }
        }
    }

    /// The number of partitions that keys were placed on; nil = marks do not agree on one.
    private var placed: Int32? {
        guard let named = marks.values.first?.position.partitions.map(abs), named > 0 else { return nil }
        let isWhole = keys.indices.allSatisfy { place in
            let marked = marks[Int32(place)].map { $0.position.partitions.map(abs) == named }
            return marked ?? isEmpty(Int32(place)) && (place < named || isEmpty(Int32(place)))
        }
        return isWhole ? named : nil
    }

    private static func commonDivisor(_ left: Int32, _ right: Int32) -> Int32 {
        right == 0 ? left : commonDivisor(right, left % right)
    }
}

// MARK: - What is written

extension MovedLedger {
    package var keyCount: Int { keys.reduce(0) { $0 + $1.count } }

    /// Used challenges and tokens that count.
    package var usedCount: Int {
        others.reduce(0) { $0 + $1.count { !Self.isSealingKey($0.key) && counts($0.key, $0.value) } }
    }

    package var banCount: Int { Set(keys.flatMap(\.bans.keys)).count }

    /// All but the marks.
    package func records() -> AnyIterator<StoredRecord> {
        var keyed = keys.lazy.flatMap { stored in
            stored.ids.lazy.compactMap { id in
                stored[id].map { StoredRecord(.key(id, $0), on: new.home(of: id)) }
            }
        }.makeIterator()
        var used = others.enumerated().lazy.flatMap { place, entries in
            let (own, all) = (places(of: place), Array(0..<new.partitions))
            let sorted = entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            return sorted.lazy.filter { counts($0.key, $0.value) }.flatMap { key, value in
                (Self.isSealingKey(key) ? all : own).lazy.map { StoredRecord(partition: $0, key: key, value: value) }
            }
        }.makeIterator()
        var rest = bans()[...]
        return AnyIterator { keyed.next() ?? used.next() ?? rest.popFirst() }
    }

    /// Two numbers leave the same rest by their common divisor.
    private func places(of partition: Int) -> [Int32] {
        (0..<new.partitions).filter { ($0 - Int32(partition)) % step == 0 }
    }

    private static func isSealingKey(_ key: [UInt8]) -> Bool { LedgerCodec.kind(of: key) == .sealingKey }

    /// Whether it is something else than a used id, or one that the new partitions' stream time has not passed.
    private func counts(_ key: [UInt8], _ value: [UInt8]) -> Bool {
        switch try? LedgerCodec.decode(key: key, value: value) {
        case .challenge(_, let used), .token(_, let used): streamTime.map { used.expiresAt >= $0 } ?? true
        default: true
        }
    }

    private func bans() -> [StoredRecord] {
        let banned = Set(keys.flatMap(\.bans.keys))
        var homes: [Digest: Int32] = [:]
        for stored in keys where !banned.isEmpty {
            for id in stored.ids where banned.contains(BanID.key(id)) { homes[BanID.key(id)] = new.home(of: id) }
        }
        var moved = [[Digest: Ban]](repeating: [:], count: Int(new.partitions))
        for (place, stored) in keys.enumerated() {
            for (id, ban) in stored.bans {
                let everywhere = ban.kind == .installation ? Array(0..<new.partitions) : places(of: place)
                for partition in homes[id].map({ [$0] }) ?? everywhere {
                    var joined = moved[Int(partition)][id]?.joined(ban) ?? ban
                    // A command's place in the old topic says nothing here.
                    joined.offset = nil
                    moved[Int(partition)][id] = joined
                }
            }
        }
        return moved.enumerated().flatMap { place, bans in
            bans.sorted { $0.key.words < $1.key.words }
                .map { StoredRecord(.ban($0.key, $0.value), on: Int32(place)) }
        }
    }

    /// The marks that hold the new ledger's partitions until everything is there, or that say that it is.
    func newMarks(_ group: [UInt8], _ move: [UInt8]?, isWhole: Bool) -> [StoredRecord] {
        let mark =
            isWhole
            ? PartitionMark(
                streamTime: streamTime,
                appliedOffset: 0,
                group: group,
                delivery: .transaction,
                partitions: new.partitions,
                move: move
            ) : PartitionMark(partitions: 0, move: move)
        return (0..<new.partitions).map { StoredRecord(.mark(mark), on: $0) }
    }

    /// Whether every partition of the old ledger says that its keys were moved.
    var isLeft: Bool { (0..<old.partitions).allSatisfy { marks[$0]?.position.partitions ?? 0 < 0 } }

    /// Whether no mark says that the keys went to another ledger, by another move.
    func isLeft(onlyBy move: [UInt8]?) -> Bool {
        marks.values.allSatisfy { $0.position.partitions ?? 0 >= 0 || $0.position.move == move }
    }

    /// The old ledger's marks, which say from now on that its keys were moved: of partitions without one, too, where a
    /// worker that knows nothing would start.
    func oldMarks(_ move: [UInt8]?) -> [StoredRecord] {
        let placed = placed ?? old.partitions
        return (0..<old.partitions).compactMap { partition in
            var mark = marks[partition] ?? PartitionMark()
            let count = mark.position.partitions ?? placed
            guard count > 0 else { return nil }
            (mark.position.partitions, mark.position.move) = (-count, move)
            return StoredRecord(.mark(mark), on: partition)
        }
    }
}
