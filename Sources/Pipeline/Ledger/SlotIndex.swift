internal import AppAttest
internal import Crypto

/// From key ID to entry slot: open addressing in 256 shards, so that growth copies one small table at a time.
struct SlotIndex {
    private struct Shard {
        /// Slot + 1; 0 = free. The count is a power of two.
        var slots: [UInt32] = Array(repeating: 0, count: 8)
        var used = 0
    }

    private var shards = [Shard](repeating: Shard(), count: 256)

    private static func hash(_ key: KeyID) -> Int {
        // The key ID is a SHA-256 digest: its own bytes are the hash. Byte 0 picks the shard.
        var value = 0
        for index in 1..<8 { value = value << 8 | Int(key.digest[index]) }
        return value
    }

    /// - Parameter matches: whether the entry in a slot is the key's.
    @inline(__always)
    func find(_ key: KeyID, matches: (UInt32) -> Bool) -> UInt32? {
        let shard = shards[Int(key.digest[0])]
        let mask = shard.slots.count - 1
        var position = Self.hash(key) & mask
        while shard.slots[position] != 0 {
            let slot = shard.slots[position] - 1
            if matches(slot) { return slot }
            position = (position + 1) & mask
        }
        return nil
    }

    /// - Parameter keyAt: the key ID of a slot that was inserted before, to place it again when its shard grows.
    mutating func insert(_ key: KeyID, slot: UInt32, keyAt: (UInt32) -> KeyID) {
        let number = Int(key.digest[0])
        if (shards[number].used + 1) * 10 > shards[number].slots.count * 7 { grow(number, keyAt: keyAt) }
        Self.place(Self.hash(key), slot, in: &shards[number].slots)
        shards[number].used += 1
    }

    private mutating func grow(_ number: Int, keyAt: (UInt32) -> KeyID) {
        var larger = [UInt32](repeating: 0, count: shards[number].slots.count * 2)
        for entry in shards[number].slots where entry != 0 {
            Self.place(Self.hash(keyAt(entry - 1)), entry - 1, in: &larger)
        }
        shards[number].slots = larger
    }

    private static func place(_ hash: Int, _ slot: UInt32, in slots: inout [UInt32]) {
        let mask = slots.count - 1
        var position = hash & mask
        while slots[position] != 0 { position = (position + 1) & mask }
        slots[position] = slot + 1
    }
}
