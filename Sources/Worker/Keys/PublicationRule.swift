internal import AppCheck

/// A signing key is published before it signs: verifiers keep a key set for up to 6 h, and some fetch no sooner when
/// they meet a `kid` that they do not know.
enum PublicationRule {
    /// Six hours of theirs and one of slack.
    static let leadMilliseconds: Int64 = 7 * 3_600_000

    /// One line for each active key that was hardly published long enough.
    ///
    /// Nothing proves how long a key was published. What can be checked is how old its file is (a key was never
    /// published longer than that; a copy looks younger than it is) and, when a running worker reloads, whether the key
    /// stood in the set before. A key that is alone for its algorithm has nobody to take over from.
    ///
    /// - Parameters:
    ///   - known: since when this process has known each `kid`, in milliseconds since 1970; nil at the start.
    ///   - now: milliseconds since 1970.
    static func warnings(_ keys: ExchangeKeys, known: [String: Int64]? = nil, now: Int64) -> [String] {
        let ring = keys.rings.tokens
        return ring.keys.compactMap { key in
            let isAlone = !ring.keys.contains { $0.algorithm == key.algorithm && $0.state == .published }
            guard key.state == .active, !isAlone else { return nil }
            let advice = "publish a key 7 h before it is active, for verifiers keep key sets for up to 6 h"
            if let known, known[key.kid] == nil {
                return "signing key \(key.kid.printable) is active without having been published; \(advice)"
            }
            let since = min(keys.signingFilesModifiedAt[key.kid] ?? now, known?[key.kid] ?? now)
            let age = max(0, now - since)
            guard age < leadMilliseconds else { return nil }
            return "signing key \(key.kid.printable) is active, and its file is only \(span(age)) old; \(advice)"
        }
    }

    /// Hours and minutes, rounded down.
    static func span(_ milliseconds: Int64) -> String {
        let minutes = milliseconds / 60_000
        return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }
}
