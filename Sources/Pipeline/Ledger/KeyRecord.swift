package import AppAttest
package import Crypto

/// The ledger's record of one attested key.
package struct KeyRecord: Hashable, Sendable {
    /// nil = an imported key whose point is unusable: its assertions are `key-invalid`.
    package var publicKey: P256PublicKey?
    /// The bytes imported in place of such a point. Only the ledger topic keeps them, a ``KeyLedger`` does not.
    package var unusableKey: [UInt8] = []
    package var counter: UInt32
    /// ``AppCheck/RegisteredApp/name``; nil = imported without one, the first accepted request binds it.
    package var app: String?
    package var appleAppID: String
    package var environment: Environment
    package var validationCategory: UInt32?
    package var registeredAt: EvaluationTime
    package var nonce: Digest?
    /// The time at which the leaf of the last accepted attestation was issued; nil = not known.
    package var issued: IssueTime?
    package var lastRequest: LastRequest?

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
        lastRequest: LastRequest? = nil
    ) {
        self.publicKey = publicKey
        self.counter = counter
        self.app = app
        self.appleAppID = appleAppID
        self.environment = environment
        self.validationCategory = validationCategory
        self.registeredAt = registeredAt
        self.nonce = nonce
        self.issued = issued
        self.lastRequest = lastRequest
    }
}
