internal import AppAttest
internal import JSON

/// A verb's body, and the record key that follows from it. All members are read before their contents are judged: a
/// missing one is `malformed-request` whatever else is wrong.
struct RequestContent {
    var keyID: KeyID?
    var unverifiedTokenID: [UInt8]?
    let body: Request.Body
}

extension RequestContent {
    init(
        objectOf verb: Verb,
        _ members: RequestBody<some CheckTracer>,
        _ limits: RequestLimits,
        _ length: ClientDataHashLength
    ) throws(Reason) {
        let artifact = verb.keySource == .artifact ? try members.artifact() : nil
        if artifact == nil { keyID = try members.keyID() }
        let object: Request.DeviceObject =
            verb.bringsAttestation ? .attestation(try members.attestation()) : .assertion(try members.assertion())
        let binding: Request.Binding =
            verb.isExchange
            ? .exchange(try members.exchange(artifact)) : .clientDataHash(try members.clientDataHash(limits, length))
        body = .object(object, binding)
        if let artifact { keyID = try members.keyID(of: artifact) }
    }

    init(debugExchange members: RequestBody<some CheckTracer>) throws(Reason) {
        let (hash, limitedUse) = try members.debugToken()
        body = .debugToken(hash, limitedUse: limitedUse)
    }

    init(receiptCheck members: RequestBody<some CheckTracer>) throws(Reason) {
        keyID = try members.keyID()
        body = .receipt(try members.receipt(), exchanged: try members.exchanged())
    }

    init(tokenCheck members: RequestBody<some CheckTracer>) throws(Reason) {
        let (token, id) = try members.appCheckToken()
        unverifiedTokenID = id
        body = .verifyToken(token: token)
    }
}

/// The `jti` that a token claims, read before the token is verified: it is the key of the token's records.
enum UnverifiedTokenID {
    /// Google's limit; our own have 43.
    private static let maxBytes = 250

    /// - Parameter token: the text of a JWT, three parts with a dot between them.
    /// - Returns: nil unless the second part is base64 of a JSON object whose `jti` is a string of 1 to 250 bytes.
    static func bytes(of token: [UInt8]) -> [UInt8]? {
        guard token.count <= UnverifiedToken.maxBytes else { return nil }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        var beginning: JSONBeginning?
        guard parts.count == 3, let payload = Base64.decode(Array(parts[1])),
            let claims = try? JSONDocument(parsing: payload, .record, beginning: &beginning).root,
            !claims.hasDuplicateMembers,
            let identifier = claims["jti"]?.stringBytes, !identifier.isEmpty, identifier.count <= Self.maxBytes
        else { return nil }
        return identifier
    }
}
