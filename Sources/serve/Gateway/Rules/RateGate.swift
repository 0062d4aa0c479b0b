internal import Crypto

/// Limits the calls of each key, in memory of a fixed size.
///
/// Each key counts in a place of each row, and the least of its counts is at least its own calls. So other keys can
/// make one look busier than it is, if they meet it in every row, but none can hide among them.
struct RateGate {
    static let period: Int64 = 60_000
    private static let rows = 2
    private static let places = 1 << 16

    /// The most calls in a minute; 0 = no limit.
    private let limit: Int
    /// The seed of the places: without it a sender could choose keys that meet another's.
    private let seed: [UInt8]
    private var minute: Int64 = 0
    private var counts: [UInt32] = []

    /// - Parameter seed: bytes that no caller can predict.
    init(limit: Int, seed: [UInt8]) { (self.limit, self.seed) = (limit, seed) }

    /// Counts a call.
    ///
    /// - Parameter milliseconds: of a clock that never goes back.
    /// - Returns: nil = it is admitted; else the seconds after which another one is.
    mutating func wait(_ key: [UInt8], at milliseconds: Int64) -> Int64? {
        guard limit > 0 else { return nil }
        let minute = milliseconds / Self.period
        if minute != self.minute || counts.isEmpty {
            (self.minute, counts) = (minute, [UInt32](repeating: 0, count: Self.rows * Self.places))
        }
        let own = indices(of: key)
        assert(own.count == Self.rows && own.allSatisfy(counts.indices.contains), "a key has a place in each row")
        let count = own.map { counts[$0] }.min() ?? 0
        guard count < limit else { return Self.rest(at: milliseconds) }
        for index in own { counts[index] = max(counts[index], count + 1) }
        assert(own.allSatisfy { counts[$0] <= limit }, "no key is admitted beyond its limit")
        return nil
    }

    /// The seconds that are left of a minute.
    static func rest(at milliseconds: Int64) -> Int64 { (period - milliseconds % period + 999) / 1000 }

    private func indices(of key: [UInt8]) -> [Int] {
        let digest = SHA256.hash(seed + key).bytes
        return (0..<Self.rows).map { row in
            row * Self.places + (Int(digest[2 * row]) << 8 | Int(digest[2 * row + 1]))
        }
    }
}
