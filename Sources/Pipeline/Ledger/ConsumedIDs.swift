package import AppAttest
package import Crypto

/// Ids that were used up, until their time is over. In 256 tables by the first byte, so that growth has no spike.
package struct ConsumedIDs: Sendable {
    /// Ids that expire within one of these go together.
    private static let bucketMilliseconds: Int64 = 10_000

    private var shards = [[Digest: ConsumedID]](repeating: [:], count: 256)
    /// The ids by the end of the bucket that they expire in.
    private var buckets: [Int64: [Digest]] = [:]
    package private(set) var count = 0

    package init() {}

    package subscript(id: Digest) -> ConsumedID? { shards[Int(id[0])][id] }

    package mutating func insert(_ id: Digest, _ consumed: ConsumedID) {
        guard shards[Int(id[0])].updateValue(consumed, forKey: id) == nil else { return }
        count += 1
        buckets[Self.bucketEnd(consumed.expiresAt), default: []].append(id)
    }

    package mutating func remove(_ id: Digest) {
        guard shards[Int(id[0])].removeValue(forKey: id) != nil else { return }
        count -= 1
    }

    /// The ids whose time is over, `limit` at most and a bucket's rest; they stay until they are removed.
    package func expired(at streamTime: EvaluationTime, limit: Int) -> [Digest] {
        var due: [Digest] = []
        for end in buckets.keys.filter({ $0 <= streamTime.milliseconds }).sorted() where due.count < limit {
            due += (buckets[end] ?? []).filter { self[$0] != nil }
        }
        return due
    }

    /// Drops the buckets of which nothing is left.
    package mutating func sweep(before streamTime: EvaluationTime) {
        for end in buckets.keys where end <= streamTime.milliseconds {
            let rest = (buckets[end] ?? []).filter { self[$0] != nil }
            buckets[end] = rest.isEmpty ? nil : rest
        }
    }

    private static func bucketEnd(_ time: EvaluationTime) -> Int64 {
        // Times are bounded by what RFC 3339 can write, so this cannot overflow.
        (time.milliseconds / bucketMilliseconds + 1) * bucketMilliseconds
    }
}
