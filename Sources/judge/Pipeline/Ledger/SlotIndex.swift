internal import AppAttest
internal import Crypto

/// An index from key ID to entry slot: open addressing in 256 shards, so that growth copies one small table at a time.
///
/// A place holds 32 bits of the key's hash next to the slot: neither a foreign key on the way nor growth touches
/// entries.
struct SlotIndex {
    /// The hash in the upper half, slot + 1 in the lower one; 0 = free.
    private var shards = [[UInt64]](repeating: Array(repeating: 0, count: 8), count: 256)
    private var used = [Int](repeating: 0, count: 256)

    /// The key ID is a SHA-256 digest: its own bytes are the hash. Byte 0 picks the shard, the next four are this.
    private static func hash(_ key: KeyID) -> UInt64 { key.digest.words.0 >> 24 & 0xFFFF_FFFF }

    /// The place where a hash's search begins: places are in the order of their hashes, so any count of them will do.
    static func first(_ hash: UInt64, of count: Int) -> Int { Int((hash * UInt64(count)) >> 32) }

    /// - Parameter matches: whether the entry in a slot is the key's.
    @inline(__always)
    func find(_ key: KeyID, matches: (UInt32) -> Bool) -> UInt32? {
        let number = Int(key.digest.words.0 >> 56)
        let hash = Self.hash(key)
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
    mutating func insert(_ key: KeyID, slot: UInt32) {
        let number = Int(key.digest.words.0 >> 56)
        if (used[number] + 1) * 4 > shards[number].count * 3 { grow(number) }
        Self.put(Self.hash(key) << 32 | UInt64(slot + 1), into: &shards[number])
        used[number] += 1
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
