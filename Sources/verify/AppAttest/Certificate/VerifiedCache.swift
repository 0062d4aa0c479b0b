internal import Crypto

/// Verified values, by SHA-256 of their bytes; the least recently used one makes room.
///
/// Keeps only what a root vouches for, so that a sender cannot evict an entry with his own certificates.
struct VerifiedCache<Value> {
    private let capacity: Int
    private var entries: [Digest: (value: Value, asked: UInt64)] = [:]
    private var clock: UInt64 = 0

    init(capacity: Int) {
        precondition(capacity > 0, "a cache holds something")
        self.capacity = capacity
    }

    var count: Int { entries.count }

    mutating func find(_ digest: Digest) -> Value? {
        guard let place = entries.index(forKey: digest) else { return nil }
        clock += 1
        entries.values[place].asked = clock
        return entries.values[place].value
    }

    mutating func insert(_ digest: Digest, _ value: Value) {
        if entries[digest] == nil, entries.count == capacity,
            let oldest = entries.min(by: { $0.value.asked < $1.value.asked })?.key
        {
            entries[oldest] = nil
        }
        clock += 1
        entries[digest] = (value, clock)
    }
}
