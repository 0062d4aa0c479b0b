internal import AppAttest
internal import JSON

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

/// The `jti` that a token claims, read before the token is verified: it is the key of the token's records.
struct UnverifiedTokenID {
    let bytes: [UInt8]

    /// Google's limit; our own have 43.
    private static let maxBytes = 250

    /// - Parameter token: the text of a JWT, three parts with a dot between them.
    /// - Returns: nil unless the second part is base64 of a JSON object whose `jti` is a string of 1 to 250 bytes.
    init?(token: [UInt8]) {
        guard token.count <= UnverifiedToken.maxBytes else { return nil }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        var beginning: JSONBeginning?
        guard parts.count == 3, let payload = Base64.decode(Array(parts[1])),
            let claims = try? JSONDocument(parsing: payload, .record, beginning: &beginning).root,
            !claims.hasDuplicateMembers,
            let identifier = claims["jti"]?.stringBytes, !identifier.isEmpty, identifier.count <= Self.maxBytes
        else { return nil }
        bytes = identifier
    }
}
