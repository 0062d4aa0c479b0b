package import AppAttest

/// The tokens of all teams, one each: Apple refuses senders that make many. A refused token is replaced if it is
/// ``leastMilliseconds`` old. A younger one is replaced once, as long as Apple has accepted nothing from the key.
package struct ProviderTokens: Sendable {
    /// Apple's least time between two tokens of a team.
    package static let leastMilliseconds = 20 * Milliseconds.minute

    /// What a call was made with, to be told which token was refused.
    package struct Grant: Sendable, Equatable {
        package let text: [UInt8]
        package let team: String
        fileprivate let number: Int
    }

    private struct Entry {
        var key: ProviderKey
        var token: ProviderToken?
        /// Counts the team's tokens.
        var number = 0
        /// That of the key's first token.
        var firstNumber = 1
        /// Whether a refused token may be replaced although it is young.
        var mayReplace = true

        /// Replaces the key, and forgets what Apple answered to the old one.
        mutating func change(_ key: ProviderKey) {
            (self.key, token, firstNumber, mayReplace) = (key, nil, number + 1, true)
        }
    }

    private var entries: [String: Entry] = [:]

    package init(_ keys: [ProviderKey]) { reload(keys) }

    /// Takes the keys of a reload: a token of another key is not used again.
    package mutating func reload(_ keys: [ProviderKey]) {
        let old = entries
        entries = [:]
        for key in keys {
            var entry = old[key.team] ?? Entry(key: key)
            if entry.key.isSame(as: key) { entry.key = key } else { entry.change(key) }
            entries[key.team] = entry
        }
    }

    /// The team whose key speaks for an app; nil = no key does.
    package func team(forAppID appID: String) -> String? {
        entries.values.filter { $0.key.speaks(forAppID: appID) }.map(\.key.team).min()
    }

    /// - Returns: nil for a team without a key.
    package mutating func grant(_ team: String, at time: EvaluationTime) -> Grant? {
        guard var entry = entries[team] else { return nil }
        if let token = entry.token, token.isCurrent(at: time) {
            return Grant(text: token.text, team: team, number: entry.number)
        }
        let token = ProviderToken(entry.key, at: time)
        (entry.token, entry.number) = (token, entry.number + 1)
        entries[team] = entry
        return Grant(text: token.text, team: team, number: entry.number)
    }

    package func hasKey(of team: String) -> Bool { entries[team] != nil }

    /// Apple has understood a call with this token.
    package mutating func wasAccepted(_ grant: Grant) {
        guard let entry = entries[grant.team], grant.number >= entry.firstNumber else { return }
        entries[grant.team]?.mayReplace = false
    }

    /// Apple has answered 401. Of many calls with one token the first makes another.
    ///
    /// - Returns: whether that is more than a used-up token; false = another one is there, or is made now.
    package mutating func wasRefused(_ grant: Grant, at time: EvaluationTime) -> Bool {
        guard var entry = entries[grant.team] else { return true }
        guard entry.number == grant.number, let token = entry.token else { return false }
        guard entry.mayReplace || time.since(token.issuedAt) >= Self.leastMilliseconds else { return true }
        (entry.token, entry.mayReplace) = (nil, false)
        entries[grant.team] = entry
        return false
    }
}
