internal import AppCheck

/// A signing key is published before it signs: verifiers keep a key set for up to 6 h, and some do not fetch sooner
/// when they meet an unknown `kid`.
package enum PublicationRule {
    /// Six hours for the verifiers and one of slack.
    package static let leadMilliseconds: Int64 = 7 * 3_600_000

    /// A running worker's knowledge beyond the files.
    package struct Memory {
        /// The time at which each `kid` entered the set, in milliseconds since 1970.
        package var known: [String: Int64]
        /// Keys that were active before, and so did not just take over.
        package var active: Set<String>

        package init(known: [String: Int64], active: Set<String>) { (self.known, self.active) = (known, active) }
    }

    /// One line for each active key that was probably not published long enough.
    ///
    /// The length of a key's publication cannot be proved. Two things can be checked: the age of its file (a key was
    /// never published for longer; a copy looks younger; worker.json has the time of a key without a file) and, when a running worker reloads, whether the key was in the
    /// set before. An active key has taken over from another one if a published key of its algorithm is older.
    ///
    /// A key without either is taken to be old enough at the start.
    ///
    /// - Parameters:
    ///   - memory: nil at the start.
    ///   - now: milliseconds since 1970.
    package static func warnings(_ keys: ExchangeKeys, memory: Memory? = nil, now: Int64) -> [String] {
        let ring = keys.rings.tokens
        return ring.keys.compactMap { key in
            guard key.state == .active, memory?.active.contains(key.kid) != true else { return nil }
            let advice = "publish a key 7 h before it becomes active, because verifiers keep key sets for up to 6 h"
            let others = ring.keys.filter { $0.algorithm == key.algorithm && $0.state == .published }
            if let memory, memory.known[key.kid] == nil {
                guard !others.isEmpty else { return nil }
                return "signing key \(key.kid.printable) is active without having been published; \(advice)"
            }
            let file = keys.signingFilesModifiedAt[key.kid]
            guard let made = file ?? memory?.known[key.kid] else { return nil }
            guard others.contains(where: { keys.signingFilesModifiedAt[$0.kid] ?? now <= made }) else { return nil }
            let age = max(0, now - min(made, memory?.known[key.kid] ?? now))
            guard age < leadMilliseconds else { return nil }
            return "signing key \(key.kid.printable) is active, and is only \(span(age)) old; \(advice)"
        }
    }

    /// Hours and minutes, rounded down.
    package static func span(_ milliseconds: Int64) -> String {
        let minutes = milliseconds / 60_000
        return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }
}
