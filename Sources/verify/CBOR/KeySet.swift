/// The keys of one map, as they are encoded: heads are minimal, so equal keys are equal bytes.
///
/// A map has so few of them that a look at one word for each costs less than hashing all into a set.
struct KeySet {
    private struct Key {
        /// Equal for equal keys, and for hardly any others.
        let fingerprint: UInt64
        let range: Range<Int>
    }

    private var keys: [Key] = []

    init(capacity: Int) { keys.reserveCapacity(capacity) }

    /// - Returns: false for a key that is there already.
    mutating func insert(_ range: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        let fingerprint = Self.fingerprint(bytes.extracting(range))
        for key in keys where key.fingerprint == fingerprint {
            if CBORPlainMap.areEqual(bytes.extracting(key.range), bytes.extracting(range)) { return false }
        }
        keys.append(Key(fingerprint: fingerprint, range: range))
        return true
    }

    /// A hash of the length and every byte.
    private static func fingerprint(_ bytes: Span<UInt8>) -> UInt64 {
        var hash = UInt64(bytes.count)
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        var index = 0
        // Eight bytes are loaded only where eight are left.
        unsafe bytes.withUnsafeBytes { raw in
            while index &+ 8 <= raw.count {
                mix(unsafe raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                index &+= 8
            }
        }
        var rest: UInt64 = 0
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index &+= 1
        }
        mix(rest)
        return hash
    }
}
