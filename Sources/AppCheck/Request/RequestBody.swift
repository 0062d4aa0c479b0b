internal import AppAttest
internal import Crypto
internal import JSON

/// The REST body's members, read strictly. Every fault is `malformed-request`.
struct RequestBody {
    private let node: JSONNode

    /// - Throws: for a value that is not an object, or has two members of one name.
    init(_ node: JSONNode?) throws(Reason) {
        guard let node, node.kind == .object, !node.hasDuplicateMembers else { throw .malformedRequest }
        self.node = node
    }

    func keyID() throws(Reason) -> KeyID {
        guard let member = try member("keyId", or: "key_id"), member.writtenBytes <= Self.mostKeyIDBytes
        else { throw .malformedRequest }
        let bytes = try Self.decode(member)
        guard let keyID = KeyID(bytes.span) else { throw .malformedRequest }
        return keyID
    }

    /// 44 characters, each of them written as an escape.
    private static let mostKeyIDBytes = 6 * 44

    func attestation() throws(Reason) -> [UInt8] { try bytes("attestationStatement", or: "attestation_statement") }

    func assertion() throws(Reason) -> [UInt8] { try bytes("assertion", or: nil) }

    func artifact() throws(Reason) -> [UInt8] { try bytes("artifact", or: nil) }

    func exchange(_ artifact: [UInt8]? = nil) throws(Reason) -> Request.Exchange {
        Request.Exchange(artifact: artifact, challenge: try challenge(), limitedUse: try limitedUse())
    }

    private func challenge() throws(Reason) -> [UInt8] {
        let challenge = try bytes("challenge", or: nil)
        guard !challenge.isEmpty else { throw .malformedRequest }
        return challenge
    }

    /// The secret's hash, nil for a text that is not a random UUID; and whether a limited-use token is asked for.
    func debugToken() throws(Reason) -> (hash: Digest?, limitedUse: Bool) {
        guard let member = try member("debugToken", or: "debug_token"), member.kind == .string else {
            throw .malformedRequest
        }
        let limitedUse = try limitedUse() ?? false
        let secret = member.writtenBytes <= Self.mostSecretBytes ? member.stringBytes : nil
        return (secret.flatMap(DebugToken.hash), limitedUse)
    }

    /// 36 characters, each of them written as an escape.
    private static let mostSecretBytes = 6 * 36

    /// nil if it is absent.
    private func limitedUse() throws(Reason) -> Bool? {
        guard let member = try member("limitedUse", or: "limited_use") else { return nil }
        guard let value = member.bool else { throw .malformedRequest }
        return value
    }

    /// The token's text as it is: a fault in it is the token's, not the request's. So is its length.
    func appCheckToken() throws(Reason) -> [UInt8] {
        guard let member = try member("appCheckToken", or: "app_check_token"), member.kind == .string else {
            throw .malformedRequest
        }
        guard member.writtenBytes <= 6 * UnverifiedToken.maxBytes, let text = member.stringBytes else {
            throw .tokenInvalid
        }
        return text
    }

    /// An empty body: none, `null`, an empty string (as the SDK sends) or an object.
    static func checkEmpty(_ node: JSONNode?) throws(Reason) {
        guard let node, node.kind != .null, node.kind != .string || node.writtenBytes > 0 else { return }
        _ = try RequestBody(node)
    }

    /// Exactly one of `clientDataHash` (taken as bytes) and `clientData` (hashed here).
    ///
    /// - Parameter length: the app's rule for the hash.
    func clientDataHash(_ limits: RequestLimits, _ length: ClientDataHashLength) throws(Reason) -> [UInt8] {
        let hash = try member("clientDataHash", or: "client_data_hash")
        let data = try member("clientData", or: "client_data")
        if let hash {
            // A text that is too long in any spelling is not decoded.
            guard hash.writtenBytes <= 8 * (limits.clientDataHashBytes + 2) else { throw .malformedRequest }
            let bytes = try Self.decode(hash)
            guard data == nil, length.allows(bytes.count), bytes.count <= limits.clientDataHashBytes
            else { throw .malformedRequest }
            return bytes
        }
        guard let data else { throw .malformedRequest }
        let bytes = try Self.decode(data)
        guard bytes.count <= limits.clientDataBytes else { throw .malformedRequest }
        return SHA256.hash(bytes).bytes
    }

    private func bytes(_ camelCase: StaticString, or snakeCase: StaticString?) throws(Reason) -> [UInt8] {
        guard let member = try member(camelCase, or: snakeCase) else { throw .malformedRequest }
        return try Self.decode(member)
    }

    /// The member under either spelling; both together are a fault. `null` counts as absent.
    private func member(_ camelCase: StaticString, or snakeCase: StaticString?) throws(Reason) -> JSONNode? {
        let first = present(camelCase)
        guard let snakeCase, let second = present(snakeCase) else { return first }
        guard first == nil else { throw .malformedRequest }
        return second
    }

    private func present(_ name: StaticString) -> JSONNode? { node[name].flatMap { $0.kind == .null ? nil : $0 } }

    private static func decode(_ member: JSONNode) throws(Reason) -> [UInt8] {
        guard let bytes = member.base64Bytes else { throw .malformedRequest }
        return bytes
    }
}
