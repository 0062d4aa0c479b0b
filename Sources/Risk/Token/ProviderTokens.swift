package import AppAttest

/// The tokens of all teams, one each: Apple refuses senders that make many.
package struct ProviderTokens: Sendable {
    /// What a call was made with, to be told which token was refused.
    package struct Grant: Sendable, Equatable {
        package let text: [UInt8]
        package let team: String
        fileprivate let number: Int
    }

    /// What follows from an answer 401.
    package enum Verdict: Sendable, Equatable {
        /// Another token is there, or is made now: one more try.
        case tryAgain
        /// The token was made because the one before it was refused: the fault is the key's, or the team's.
        case refused
    }

    private struct Entry {
        var key: ProviderKey
        var token: ProviderToken?
        /// Counts the team's tokens.
        var number = 0
        /// Whether the token replaces a refused one and nothing has been accepted with it yet.
        var isSecondTry = false
    }

    private var entries: [String: Entry] = [:]

    package init(_ keys: [ProviderKey]) { reload(keys) }

    /// Takes the keys of a reload: a token of another key is not used again.
    package mutating func reload(_ keys: [ProviderKey]) {
        let old = entries
        entries = [:]
        for key in keys {
            var entry = old[key.team] ?? Entry(key: key)
            if !entry.key.isSame(as: key) { (entry.token, entry.isSecondTry) = (nil, false) }
            entry.key = key
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

    /// Apple has understood a call with this token.
    package mutating func wasAccepted(_ grant: Grant) {
        guard entries[grant.team]?.number == grant.number else { return }
        entries[grant.team]?.isSecondTry = false
    }

    /// Apple has answered 401. Of many calls with one token the first makes another.
    package mutating func wasRefused(_ grant: Grant) -> Verdict {
        guard var entry = entries[grant.team] else { return .refused }
        guard entry.number == grant.number, entry.token != nil else { return .tryAgain }
        if entry.isSecondTry { return .refused }
        (entry.token, entry.isSecondTry) = (nil, true)
        entries[grant.team] = entry
        return .tryAgain
    }
}
