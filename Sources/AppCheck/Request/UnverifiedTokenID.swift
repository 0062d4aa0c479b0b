internal import JSON

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
