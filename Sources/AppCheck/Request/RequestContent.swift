internal import AppAttest

/// A verb's body, and the record key that follows from it. All members are read before their contents are judged: a
/// missing one is `malformed-request` whatever else is wrong.
struct RequestContent {
    var keyID: KeyID?
    var unverifiedTokenID: [UInt8]?
    let body: Request.Body

    init(keyID: KeyID? = nil, unverifiedTokenID: [UInt8]? = nil, body: Request.Body) {
        self.keyID = keyID
        self.unverifiedTokenID = unverifiedTokenID
        self.body = body
    }

    init(
        attestation members: RequestBody,
        _ limits: RequestLimits,
        _ length: ClientDataHashLength
    ) throws(Reason) {
        keyID = try members.keyID()
        body = .object(
            .attestation(try members.attestation()),
            .clientDataHash(try members.clientDataHash(limits, length))
        )
    }

    init(
        assertion members: RequestBody,
        _ limits: RequestLimits,
        _ length: ClientDataHashLength
    ) throws(Reason) {
        keyID = try members.keyID()
        body = .object(
            .assertion(try members.assertion()),
            .clientDataHash(try members.clientDataHash(limits, length))
        )
    }

    init(attestationExchange members: RequestBody) throws(Reason) {
        keyID = try members.keyID()
        body = .object(.attestation(try members.attestation()), .exchange(try members.exchange()))
    }

    /// - Throws: `artifact-invalid` too, for an artifact that names no key.
    init(assertionExchange members: RequestBody) throws(Reason) {
        let artifact = try members.artifact()
        body = .object(.assertion(try members.assertion()), .exchange(try members.exchange(artifact)))
        keyID = KeyID(unverifiedArtifact: artifact)
        guard keyID != nil else { throw .artifactInvalid }
    }

    init(debugExchange members: RequestBody) throws(Reason) {
        let (hash, limitedUse) = try members.debugToken()
        body = .debugToken(hash, limitedUse: limitedUse)
    }

    /// - Throws: `token-invalid` too, for a token whose payload cannot be read or names no `jti`.
    init(tokenCheck members: RequestBody) throws(Reason) {
        let token = try members.appCheckToken()
        guard let identifier = UnverifiedTokenID(token: token) else { throw .tokenInvalid }
        unverifiedTokenID = identifier.bytes
        body = .verifyToken(token: token)
    }
}
