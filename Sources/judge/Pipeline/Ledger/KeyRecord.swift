package import AppAttest
package import Crypto
internal import JSON

/// The ledger's record of one attested key.
package struct KeyRecord: Hashable, Sendable {
    /// nil = an imported key whose point is unusable: its assertions are `key-invalid`.
    package var publicKey: P256PublicKey?
    // The order of members leaves no room unused: a batch keeps several copies of a record.
    package var environment: Environment
    private(set) var riskValue: UInt16 = 0
    /// 0 = there is no metric.
    private(set) var riskCreatedAt: UInt32 = 0
    private(set) var names: KeyNames
    /// The bits of ``KeyCounters/skipped``.
    package var skipped: UInt64 = 0
    package var counter: UInt32
    /// When the last attestation or assertion was accepted, in seconds since 1970; 0 = not noted. See ``KeySettings``.
    package var lastUse: UInt32 = 0
    package var validationCategory: UInt32?
    /// ``KeyCounters/unseen``.
    package var unseen: UInt8 = 0
    package var registeredAt: EvaluationTime
    package var nonce: Digest?
    /// The time at which the leaf of the last accepted attestation was issued; nil = not known.
    package var issued: IssueTime?
    package var lastRequest: LastRequest?
    /// The metric of the key's last receipt that Apple has exchanged; nil = not known.
    package var risk: RiskMetric? {
        get { riskCreatedAt == 0 ? nil : RiskMetric(riskValue, createdAt: riskCreatedAt) }
        set { (riskCreatedAt, riskValue) = (newValue?.createdAt ?? 0, newValue?.value ?? 0) }
    }

    /// ``AppCheck/RegisteredApp/name``; nil = imported without one, the first accepted request binds it.
    package var app: String? {
        get { names.app }
        set { names = KeyNames(app: newValue, appleAppID: appleAppID, unusableKey: unusableKey) }
    }

    /// Sets the app; a key that is bound to it already keeps its ``KeyNames``.
    mutating func bind(to app: String) { if names.isBound(to: app) != true { self.app = app } }

    package var appleAppID: String {
        get { names.appleAppID }
        set { names = KeyNames(app: app, appleAppID: newValue, unusableKey: unusableKey) }
    }

    /// The bytes imported in place of an unusable point. Only the ledger topic keeps them, a ``KeyLedger`` does not.
    package var unusableKey: [UInt8] {
        get { names.unusableKey }
        set { names = KeyNames(app: app, appleAppID: appleAppID, unusableKey: newValue) }
    }
}

extension KeyRecord {
    package init(
        publicKey: P256PublicKey?,
        counter: UInt32,
        app: String?,
        appleAppID: String,
        environment: Environment,
        validationCategory: UInt32? = nil,
        registeredAt: EvaluationTime,
        nonce: Digest? = nil,
        issued: IssueTime? = nil,
        lastRequest: LastRequest? = nil,
        risk: RiskMetric? = nil
    ) {
        self.init(
            publicKey: publicKey,
            environment: environment,
            riskValue: risk?.value ?? 0,
            riskCreatedAt: risk?.createdAt ?? 0,
            names: KeyNames(app: app, appleAppID: appleAppID),
            counter: counter,
            validationCategory: validationCategory,
            registeredAt: registeredAt,
            nonce: nonce,
            issued: issued,
            lastRequest: lastRequest
        )
    }
}

/// The texts of a record, which are those of many: a copy of a record counts one reference for all of them.
final class KeyNames: Hashable, Sendable {
    let app: String?
    let appleAppID: String
    let unusableKey: [UInt8]

    init(app: String?, appleAppID: String, unusableKey: [UInt8] = []) {
        (self.app, self.appleAppID, self.unusableKey) = (app, appleAppID, unusableKey)
    }

    /// - Returns: nil = the key is bound to no app.
    func isBound(to app: String) -> Bool? { self.app.map { $0 == app } }

    func has(appleAppID text: String) -> Bool { Bytes.areEqual(appleAppID, text) }

    static func == (left: KeyNames, right: KeyNames) -> Bool {
        left === right
            || left.app == right.app && left.appleAppID == right.appleAppID && left.unusableKey == right.unusableKey
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(app)
        hasher.combine(appleAppID)
        hasher.combine(unusableKey)
    }
}

/// Apple's fraud risk metric: about how many keys were attested on the key's device for its app in 30 days.
package struct RiskMetric: Hashable, Sendable {
    /// When Apple made the receipt, in seconds since 1970.
    package let createdAt: UInt32
    /// 65,535 for more as well.
    package let value: UInt16

    package init(_ value: UInt16, createdAt: UInt32) { (self.value, self.createdAt) = (value, createdAt) }

    /// Apple counts the attestations of 30 days: so long a metric says something.
    private static let lifeMilliseconds: Int64 = 30 * 86_400_000

    package func counts(at time: EvaluationTime) -> Bool {
        time.milliseconds <= Int64(createdAt) * 1000 + Self.lifeMilliseconds
    }

    /// The one of the later receipt.
    package static func later(_ one: RiskMetric?, _ other: RiskMetric?) -> RiskMetric? {
        guard let one, let other else { return one ?? other }
        return one.createdAt >= other.createdAt ? one : other
    }
}

/// A key or an installation that is refused until the ban is lifted. It stands under its ``AppCheck/BanID``, apart from
/// the key's record: neither an attestation nor a forgotten key lifts it.
package struct Ban: Hashable, Sendable {
    package enum Kind: UInt8, Sendable { case key = 1, installation }

    package var kind: Kind
    /// The time of the command.
    package var since: EvaluationTime
    /// The stream time from which on the ban no longer counts; nil = it counts until it is lifted.
    package var until: EvaluationTime?
    /// The offset of the command's record; nil = no command of this version made the ban.
    package var offset: Int64?

    package init(_ kind: Kind, since: EvaluationTime, until: EvaluationTime? = nil, offset: Int64? = nil) {
        (self.kind, self.since, self.until, self.offset) = (kind, since, until, offset)
    }

    package func counts(at streamTime: EvaluationTime) -> Bool { until.map { streamTime < $0 } ?? true }

    /// The one of two that lasts longer, since the earlier.
    package func joined(_ other: Ban) -> Ban {
        let isShorter = until.map { own in other.until.map { own < $0 } ?? true } ?? false
        var longer = isShorter ? other : self
        longer.since = min(since, other.since)
        return longer
    }
}

/// The last accepted request of a key, by which a redelivery is recognized as a duplicate.
package struct LastRequest: Hashable, Sendable {
    package var id: ExactText
    package var valueDigest: Digest
    /// The token's `iat` and `exp`, in seconds since 1970; 0 = the request got no token. A duplicate gets the same ones.
    package var issuedAt: UInt32
    package var expiresAt: UInt32

    package init(id: ExactText, valueDigest: Digest, issuedAt: UInt32 = 0, expiresAt: UInt32 = 0) {
        (self.id, self.valueDigest, self.issuedAt, self.expiresAt) = (id, valueDigest, issuedAt, expiresAt)
    }
}

/// An app's admitted attestations since `start`, on one partition.
package struct RateCount: Hashable, Sendable {
    package var start: EvaluationTime
    package var count: UInt64

    package init(start: EvaluationTime, count: UInt64) { (self.start, self.count) = (start, count) }
}
