package import AppAttest
package import Crypto

/// Ids that were used up, until they expire. In 256 tables by the first byte, so that growth has no spike.
package struct ConsumedIDs: Sendable {
    /// Ids that expire within one of these go together.
    private static let bucketMilliseconds: Int64 = 10_000

    private var shards = [[Digest: ConsumedID]](repeating: [:], count: 256)
    /// The ids by the end of the bucket that they expire in.
    private var buckets: [Int64: [Digest]] = [:]
    /// How many ids of each bucket are still here.
    private var counts: [Int64: Int] = [:]
    package private(set) var count = 0

    package init() {}

    package subscript(id: Digest) -> ConsumedID? { shards[Int(id[0])][id] }

    func forEach(_ body: (Digest, ConsumedID) throws -> Void) rethrows {
        for shard in shards { for (id, consumed) in shard { try body(id, consumed) } }
    }

    package mutating func insert(_ id: Digest, _ consumed: ConsumedID) {
        guard shards[Int(id[0])].updateValue(consumed, forKey: id) == nil else { return }
        count += 1
        let end = Self.bucketEnd(consumed.expiresAt)
        buckets[end, default: []].append(id)
        counts[end, default: 0] += 1
    }

    package mutating func remove(_ id: Digest) {
        guard let consumed = shards[Int(id[0])].removeValue(forKey: id) else { return }
        count -= 1
        let end = Self.bucketEnd(consumed.expiresAt)
        let rest = (counts[end] ?? 0) - 1
        counts[end] = rest > 0 ? rest : nil
    }

    /// How many ids have not expired at a stream time.
    package func count(after streamTime: EvaluationTime) -> Int {
        counts.reduce(0) { $1.key > streamTime.milliseconds ? $0 + $1.value : $0 }
    }

    /// Expired ids, at most `limit` and the rest of a bucket; they stay until they are removed.
    package func expired(at streamTime: EvaluationTime, limit: Int) -> [Digest] {
        var due: [Digest] = []
        for end in buckets.keys.filter({ $0 <= streamTime.milliseconds }).sorted() where due.count < limit {
            due += left(in: end)
        }
        return due
    }

    /// Drops the empty buckets.
    package mutating func sweep(before streamTime: EvaluationTime) {
        for end in buckets.keys where end <= streamTime.milliseconds {
            let rest = left(in: end)
            buckets[end] = rest.isEmpty ? nil : rest
        }
    }

    /// One that was removed and came back with another expiry is in that one's bucket.
    private func left(in end: Int64) -> [Digest] {
        (buckets[end] ?? []).filter { id in self[id].map { Self.bucketEnd($0.expiresAt) == end } ?? false }
    }

    /// The end of the bucket that an id belongs to: the first time at which it may be forgotten.
    static func bucketEnd(_ time: EvaluationTime) -> Int64 {
        // Times are bounded by what RFC 3339 can write, so this cannot overflow.
        (time.milliseconds / bucketMilliseconds + 1) * bucketMilliseconds
    }
}

/// An id that may be used once, and was: of a challenge with a key, or of a token.
package struct ConsumedID: Hashable, Sendable {
    /// The time at which it would expire and be refused anyway.
    package var expiresAt: EvaluationTime
    /// The request that used it, so that its redelivery gets the same answer.
    package var request: Digest

    package init(expiresAt: EvaluationTime, request: Digest) { (self.expiresAt, self.request) = (expiresAt, request) }
}
