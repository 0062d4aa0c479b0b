package import AppAttest

/// How long the ledger keeps a key that is not used.
package struct KeySettings: Sendable, Equatable {
    /// Milliseconds from a key's last use to its end; 0 = keys do not end.
    package var expireAfterMilliseconds: Int64 = 0

    package init() {}

    /// Whether keys end, and their uses are noted.
    package var expire: Bool { expireAfterMilliseconds > 0 }

    /// When a key was used last: as noted, else as its last token says, else at the beginning of notes.
    ///
    /// - Parameters:
    ///   - lastUse: seconds; 0 = not noted.
    ///   - issuedAt: the token's `iat`, likewise.
    ///   - usesSince: nil = uses are not noted yet.
    static func use(_ lastUse: UInt32, issuedAt: UInt32, usesSince: EvaluationTime?) -> EvaluationTime? {
        let noted = lastUse != 0 ? lastUse : issuedAt
        return noted != 0 ? EvaluationTime(seconds: Int64(noted)) : usesSince
    }

    /// Whether a key with this use has ended at a stream time.
    package func hasEnded(_ use: EvaluationTime?, at time: EvaluationTime) -> Bool {
        guard expire, let use else { return false }
        // The second of the use counts whole: no key ends early.
        return use.milliseconds + 999 + expireAfterMilliseconds < time.milliseconds
    }
}

extension KeyRecord {
    /// When a key of the ledger topic was used last, by its partition's mark; nil = not known.
    package func use(by mark: PartitionMark?) -> EvaluationTime? {
        KeySettings.use(lastUse, issuedAt: lastRequest?.issuedAt ?? 0, usesSince: mark?.usesSince)
    }
}
