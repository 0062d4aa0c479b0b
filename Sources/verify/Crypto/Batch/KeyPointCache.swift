internal import CBatchVerify
internal import Threads

/// Multiples of the public keys that are in use, without which verification with a key costs more than twice as much: in
/// memory of a bounded size, which all lanes share. Of the keys that compete for a place the one used longest ago goes.
///
/// It changes no answer: what it has was computed in this process from the key itself.
package final class KeyPointCache: Sendable {
    /// Bytes of a key: its coordinates, the multiples, an array's head, and what finds them.
    static let keyBytes = 8 * (KeySlots.keyWords + KeySlots.pointWords) + 64
    /// Odd: what spreads the keys, so that no sender can make keys that compete with another's.
    private let secret: UInt64
    private static let mostShards = 64

    /// Parts of the keys, so that lanes seldom wait for each other.
    private let shards: [Locked<KeySlots>]

    /// - Parameters:
    ///   - byteCount: at most; all but a few for each place are taken key by key. With less than eight keys take, none is
    ///     kept.
    ///   - secret: at random where senders have keys.
    package init(byteCount: Int, secret: UInt64 = 0) {
        self.secret = secret | 1
        let sets = byteCount / Self.keyBytes / KeySlots.ways
        let count = min(Self.mostShards, sets)
        shards = (0..<count).map { _ in Locked(KeySlots(sets: sets / count)) }
    }

    /// How many keys it has.
    package var count: Int { shards.reduce(0) { $0 + $1.withLock { $0.count } } }
    /// How many it can have.
    package var capacity: Int { shards.reduce(0) { $0 + $1.withLock { $0.capacity } } }

    /// Writes a key's multiples.
    ///
    /// - Returns: false where it has none.
    func copy(_ key: P256PublicKey, to numbers: borrowing Numbers, at word: Int) -> Bool {
        let spread = spread(key)
        return shard(spread)?.withLock { $0.copy(key, spread, to: numbers, at: word) } ?? false
    }

    func insert(_ key: P256PublicKey, from numbers: borrowing Numbers, at word: Int) {
        let spread = spread(key)
        shard(spread)?.withLock { $0.insert(key, spread, from: numbers, at: word) }
    }

    /// The upper bits of a product depend on all bits of the key's word.
    private func spread(_ key: P256PublicKey) -> Int { Int((key.x.words.3 &* secret) >> 24) }

    private func shard(_ spread: Int) -> Locked<KeySlots>? { shards.isEmpty ? nil : shards[spread % shards.count] }
}

/// Keys in sets of eight places, any of which a key of the set may have.
private struct KeySlots {
    static let ways = 8
    static let keyWords = 8
    static let pointWords = 8 * CBV_P256_POINTS

    /// Each key's coordinates and multiples; empty until a place is taken for the first time.
    private var entries: [[UInt64]]
    /// Bits of each place's key that are not the same in a whole set: most searches look at one entry.
    private var tags: [UInt32]
    /// When each place was used, by a clock that counts uses; 0 = never.
    private var uses: [UInt64]
    private var clock: UInt64 = 0
    private(set) var count = 0

    var capacity: Int { entries.count }

    init(sets: Int) {
        entries = Array(repeating: [], count: sets * Self.ways)
        tags = Array(repeating: 0, count: sets * Self.ways)
        uses = Array(repeating: 0, count: sets * Self.ways)
    }

    mutating func copy(_ key: P256PublicKey, _ spread: Int, to numbers: borrowing Numbers, at word: Int) -> Bool {
        guard let place = place(of: key, in: set(spread)) else { return false }
        use(place)
        let entry = entries[place]
        numbers.write(entry.span.extracting(Self.keyWords...), at: word)
        return true
    }

    mutating func insert(_ key: P256PublicKey, _ spread: Int, from numbers: borrowing Numbers, at word: Int) {
        let set = set(spread)
        guard let place = place(of: key, in: set) ?? set.min(by: { uses[$0] < uses[$1] }) else { return }
        if entries[place].isEmpty {
            entries[place] = Array(repeating: 0, count: Self.keyWords + Self.pointWords)
            count += 1
        }
        let own = Self.words(key)
        for index in own.indices { entries[place][index] = own[index] }
        for index in 0..<Self.pointWords { entries[place][Self.keyWords + index] = numbers.word(word + index) }
        tags[place] = Self.tag(key)
        use(place)
    }

    private mutating func use(_ place: Int) {
        clock += 1
        uses[place] = clock
    }

    private func place(of key: P256PublicKey, in set: Range<Int>) -> Int? {
        let tag = Self.tag(key)
        return set.first { tags[$0] == tag && uses[$0] != 0 && has(key, at: $0) }
    }

    private func has(_ key: P256PublicKey, at place: Int) -> Bool {
        // The whole key: another one's multiples would refuse a valid signature.
        let (entry, words) = (entries[place], Self.words(key))
        return words.indices.allSatisfy { entry[$0] == words[$0] }
    }

    private func set(_ spread: Int) -> Range<Int> {
        let first = (spread >> 8) % (entries.count / Self.ways) * Self.ways
        return first..<first + Self.ways
    }

    private static func tag(_ key: P256PublicKey) -> UInt32 { UInt32(truncatingIfNeeded: key.x.words.1) }

    private static func words(_ key: P256PublicKey) -> [8 of UInt64] {
        let (x, y) = (key.x.words, key.y.words)
        return [x.0, x.1, x.2, x.3, y.0, y.1, y.2, y.3]
    }
}
