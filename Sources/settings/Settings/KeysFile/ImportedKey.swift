package import AppAttest
package import Crypto
package import Pipeline

/// One key of a KEYS file: import-keys writes it into the ledger, export-keys reads it out.
package struct ImportedKey: Sendable, Equatable {
    /// The key's last accepted request; times in seconds since 1970.
    package struct LastRequest: Sendable, Equatable {
        /// The verdict of a request that counts.
        static let accepted = "accepted"

        package var id: String
        package var valueSHA256: Digest
        package var verdict: String
        package var issuedAt: Int64?
        package var expiresAt: Int64?

        package init(id: String, valueSHA256: Digest, verdict: String, issuedAt: Int64? = nil, expiresAt: Int64? = nil)
        {
            (self.id, self.valueSHA256, self.verdict) = (id, valueSHA256, verdict)
            (self.issuedAt, self.expiresAt) = (issuedAt, expiresAt)
        }
    }

    package var keyID: KeyID
    /// The file's bytes: 65 for a usable point, but an unusable one is kept.
    package var publicKeyBytes: [UInt8]
    package var appleAppID: String
    package var environment: Environment
    package var counter: UInt32
    /// `projects/{number}/apps/{appId}`; nil = the first accepted request binds the key.
    package var app: String?
    package var nonce: Digest?
    /// The time at which the leaf of the attestation with that nonce was issued.
    package var issued: IssueTime?
    package var lastRequest: LastRequest?
    /// The time at which the key was banned, in seconds since 1970; nil = it is not.
    package var bannedSince: Int64?
    /// When the ban ends, likewise; nil = it lasts until it is lifted.
    package var bannedUntil: Int64?
    package var risk: RiskMetric?
    /// Skipped counters that the key may still use.
    package var skippedCounters: [UInt32] = []
    /// ``KeyCounters/unseen``.
    package var unseenCounters: UInt8 = 0
    /// ``KeyRecord/lastUse``.
    package var lastUse: UInt32 = 0

    package init(
        keyID: KeyID,
        publicKeyBytes: [UInt8],
        appleAppID: String,
        environment: Environment,
        counter: UInt32,
        app: String? = nil,
        nonce: Digest? = nil,
        issued: IssueTime? = nil,
        lastRequest: LastRequest? = nil
    ) {
        (self.keyID, self.publicKeyBytes, self.appleAppID) = (keyID, publicKeyBytes, appleAppID)
        (self.environment, self.counter, self.app) = (environment, counter, app)
        (self.nonce, self.issued, self.lastRequest) = (nonce, issued, lastRequest)
    }

    /// The times of bans that a line may have.
    static let banTimes: ClosedRange<Int64> = 0...EvaluationTime.writable.upperBound / 1000

    /// The ban as the ledger has it; nil = there is none.
    package var ban: Ban? {
        bannedSince.map { since in
            Ban(.key, since: EvaluationTime(seconds: since), until: bannedUntil.map { EvaluationTime(seconds: $0) })
        }
    }

    /// A key as `export-keys` writes it; ``KeyTable/record(of:)`` reads it back.
    package init(_ id: KeyID, _ record: KeyRecord, ban: Ban? = nil) {
        self.init(
            keyID: id,
            publicKeyBytes: record.publicKey?.x963 ?? record.unusableKey,
            appleAppID: record.appleAppID,
            environment: record.environment,
            counter: record.counter,
            app: record.app,
            nonce: record.nonce,
            issued: record.issued,
            lastRequest: record.lastRequest.map { request in
                LastRequest(
                    id: request.id.shown,
                    valueSHA256: request.valueDigest,
                    verdict: LastRequest.accepted,
                    issuedAt: request.issuedAt == 0 ? nil : Int64(request.issuedAt),
                    expiresAt: request.expiresAt == 0 ? nil : Int64(request.expiresAt)
                )
            }
        )
        bannedSince = ban?.sinceSecond
        bannedUntil = ban?.untilSecond
        risk = record.risk
        (skippedCounters, unseenCounters) = (record.counters.skippedCounters, record.unseen)
        lastUse = record.lastUse
    }
}

extension Ban {
    fileprivate var sinceSecond: Int64 { since.milliseconds / 1000 }
    /// Rounded up: no ban becomes shorter.
    fileprivate var untilSecond: Int64? {
        until.map { min(($0.milliseconds + 999) / 1000, ImportedKey.banTimes.upperBound) }
    }

    /// This ban joined with a line's; nil = the line, whose times are whole seconds, adds nothing.
    package func joined(withLine line: Ban) -> Ban? {
        let shown = Ban(
            kind,
            since: EvaluationTime(seconds: sinceSecond),
            until: untilSecond.map { EvaluationTime(seconds: $0) }
        )
        return shown.joined(line) == shown ? nil : joined(line)
    }
}
