internal import AppAttest
internal import Crypto

/// The 88 bits that a table keeps of a key ID. 64 of them are a hash with the process's secret seeds (SipHash), as a sender
/// names the ID of an assertion's key: of any bits of the ID itself it could choose those of a key of its own.
struct KeyFingerprint {
    /// 8 bits of the shard in ``SlotIndex`` above 32 of the place in it.
    let place: UInt64
    /// 48 bits that the entry keeps.
    let tag: UInt64

    @inline(__always)
    init(_ key: KeyID) {
        let words = key.digest.words
        var hasher = Hasher()
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
        let hash = UInt64(truncatingIfNeeded: hasher.finalize())
        place = hash >> 24
        tag = (hash & 0xFF_FFFF) << 24 | words.0 & 0xFF_FFFF
    }

    var shard: Int { Int(place >> 32) }
    var hash: UInt64 { place & 0xFFFF_FFFF }
}

/// An index from key ID to entry slot: open addressing in 256 shards, so that growth copies one small table at a time.
///
/// A place holds 32 bits of the key's hash next to the slot: neither a foreign key on the way nor growth touches
/// entries.
struct SlotIndex {
    /// The hash in the upper half, slot + 1 in the lower one; 0 = free.
    private var shards = [[UInt64]](repeating: Array(repeating: 0, count: 8), count: 256)
    /// Keys of each shard.
    private(set) var used = [Int](repeating: 0, count: 256)

    /// The place where a hash's search begins: places are in the order of their hashes, so any count of them will do.
    static func first(_ hash: UInt64, of count: Int) -> Int { Int((hash * UInt64(count)) >> 32) }

    /// - Parameter matches: whether the entry in a slot is the key's.
    @inline(__always)
    func find(_ key: KeyFingerprint, matches: (UInt32) -> Bool) -> UInt32? {
        let (number, hash) = (key.shard, key.hash)
        let count = shards[number].count
        var position = Self.first(hash, of: count)
        while true {
            let place = shards[number][position]
            if place == 0 { return nil }
            let slot = UInt32(truncatingIfNeeded: place) &- 1
            if place >> 32 == hash, matches(slot) { return slot }
            position = position + 1 == count ? 0 : position + 1
        }
    }

    /// - Parameter key: not inserted before.
    mutating func insert(_ key: KeyFingerprint, slot: UInt32) {
        let number = key.shard
        if (used[number] + 1) * 4 > shards[number].count * 3 { grow(number) }
        Self.put(key.hash << 32 | UInt64(slot + 1), into: &shards[number])
        used[number] += 1
    }

    /// - Parameter key: inserted with this slot.
    mutating func remove(_ key: KeyFingerprint, slot: UInt32) {
        let number = key.shard
        let wanted = key.hash << 32 | UInt64(slot + 1)
        let count = shards[number].count
        var position = Self.first(key.hash, of: count)
        while shards[number][position] != wanted {
            precondition(shards[number][position] != 0, "what is removed was inserted")
            position = position + 1 == count ? 0 : position + 1
        }
        // Places after the gap move up, but for those that would come before the beginning of their search.
        var next = position
        while true {
            next = next + 1 == count ? 0 : next + 1
            let place = shards[number][next]
            if place == 0 { break }
            let way = (next - Self.first(place >> 32, of: count) + count) % count
            guard way >= (next - position + count) % count else { continue }
            shards[number][position] = place
            position = next
        }
        shards[number][position] = 0
        used[number] -= 1
    }

    /// Grows a shard by a third: memory follows the number of keys closely.
    private mutating func grow(_ number: Int) {
        let places = shards[number]
        var larger = [UInt64](repeating: 0, count: places.count + places.count / 3)
        for place in places where place != 0 { Self.put(place, into: &larger) }
        shards[number] = larger
    }

    private static func put(_ place: UInt64, into places: inout [UInt64]) {
        let count = places.count
        var position = first(place >> 32, of: count)
        while places[position] != 0 { position = position + 1 == count ? 0 : position + 1 }
        places[position] = place
    }
}
