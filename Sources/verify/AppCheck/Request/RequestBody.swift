internal import AppAttest
internal import Crypto
internal import JSON

/// The REST body's members, read strictly. Every fault is `malformed-request`, where nothing else is said.
struct RequestBody<Tracer: CheckTracer> {
    private let node: JSONNode
    private let trace: Tracer

    /// - Throws: for a value that is not an object, or has two members of one name.
    init(_ node: JSONNode?, _ trace: Tracer) throws(Reason) {
        guard let node, node.kind == .object, !node.hasDuplicateMembers else {
            throw trace.failed("body", .malformedRequest) {
                let presented = node?.kind == .object ? "two members of one name" : "no object"
                return Comparison("body", presented, expected: "an object, each member once")
            }
        }
        trace.passed("body") { Comparison("body", "an object", expected: "an object, each member once") }
        (self.node, self.trace) = (node, trace)
    }

    /// An empty body: none, `null`, an empty string (as the SDK sends) or an object.
    static func checkEmpty(_ node: JSONNode?, _ trace: Tracer) throws(Reason) {
        guard let node, node.kind != .null, node.kind != .string || node.writtenBytes > 0 else {
            return trace.passed("body") { Comparison("body", "none", expected: "an object, or none") }
        }
        _ = try Self(node, trace)
    }

    func keyID() throws(Reason) -> KeyID {
        let keyID = Result { () throws(Reason) in
            guard let member = try member("keyId", or: "key_id"), member.writtenBytes <= Self.mostKeyIDBytes
            else { throw .malformedRequest }
            let bytes = try Self.decode(member)
            guard let keyID = KeyID(bytes.span) else { throw .malformedRequest }
            return keyID
        }
        return try trace.noted("keyId", keyID) { shown("keyId", or: "key_id", "base64 of 32 bytes") }
    }

    /// 44 characters, each of them written as an escape.
    private static var mostKeyIDBytes: Int { 6 * 44 }

    func attestation() throws(Reason) -> [UInt8] { try bytes("attestationStatement", or: "attestation_statement") }

    func assertion() throws(Reason) -> [UInt8] { try bytes("assertion") }

    func receipt() throws(Reason) -> [UInt8] { try bytes("receipt", isFilled: true) }

    /// When the receipt was made that Apple exchanged; nil if it is absent.
    func exchanged() throws(Reason) -> EvaluationTime? {
        let time = Result { () throws(Reason) in
            guard let member = try member("exchanged", or: nil) else { return EvaluationTime?.none }
            guard let milliseconds = member.integer, EvaluationTime.writable.contains(milliseconds) else {
                throw .malformedRequest
            }
            return EvaluationTime(milliseconds: milliseconds)
        }
        return try trace.noted("exchanged", time) { shown("exchanged", or: nil, "milliseconds since 1970, or absent") }
    }

    func artifact() throws(Reason) -> [UInt8] {
        try bytes("artifact", expected: "base64 of an artifact of this worker, version 1")
    }

    func exchange(_ artifact: [UInt8]? = nil) throws(Reason) -> Request.Exchange {
        let challenge = try bytes("challenge", isFilled: true, expected: "base64 of at least 1 byte")
        return Request.Exchange(artifact: artifact, challenge: challenge, limitedUse: try limitedUse())
    }

    /// The key ID of an artifact, judged after all members.
    ///
    /// - Throws: `artifact-invalid` for an artifact that names none.
    func keyID(of artifact: [UInt8]) throws(Reason) -> KeyID {
        func shown() -> Comparison {
            let version = artifact.first.map { ", version \($0)" } ?? ""
            let expected = "an artifact of this worker: version 1, with a key ID, a nonce and a tag"
            return Comparison("artifact", "\(Counted.text(artifact.count, "byte"))\(version)", expected: expected)
        }
        guard let keyID = KeyID(unverifiedArtifact: artifact) else {
            throw trace.failed("artifact's form", .artifactInvalid) { shown() }
        }
        trace.passed("artifact's form") { shown() }
        return keyID
    }

    /// The secret's hash, nil for a text that is not a random UUID; and whether a limited-use token is asked for.
    func debugToken() throws(Reason) -> (hash: Digest?, limitedUse: Bool) {
        let member = try text("debugToken", or: "debug_token", expected: "a text")
        let secret = member.writtenBytes <= Self.mostSecretBytes ? member.stringBytes : nil
        return (secret.flatMap(DebugToken.hash), try limitedUse() ?? false)
    }

    /// 36 characters, each of them written as an escape.
    private static var mostSecretBytes: Int { 6 * 36 }

    /// nil if it is absent.
    private func limitedUse() throws(Reason) -> Bool? {
        do throws(Reason) {
            guard let member = try member("limitedUse", or: "limited_use") else { return nil }
            guard let value = member.bool else { throw .malformedRequest }
            return value
        } catch {
            throw trace.failed("limitedUse", error) { shown("limitedUse", or: "limited_use", "true, false or absent") }
        }
    }

    /// The token's text as it is, and the `jti` that it names: a fault in it is the token's, not the request's. So is
    /// its length.
    ///
    /// - Throws: `token-invalid` too, for a token whose payload cannot be read or names no `jti`.
    func appCheckToken() throws(Reason) -> (token: [UInt8], id: [UInt8]) {
        func form() -> String { "a text: a JWT of at most \(UnverifiedToken.maxBytes) bytes whose payload has a jti" }
        let member = try text("appCheckToken", or: "app_check_token", expected: form())
        guard member.writtenBytes <= 6 * UnverifiedToken.maxBytes, let text = member.stringBytes,
            let id = UnverifiedTokenID.bytes(of: text)
        else {
            throw trace.failed("appCheckToken", .tokenInvalid) {
                Comparison("appCheckToken", "another text", expected: form())
            }
        }
        return (text, id)
    }

    /// Exactly one of `clientDataHash` (taken as bytes) and `clientData` (hashed here).
    ///
    /// - Parameter length: the app's rule for the hash.
    func clientDataHash(_ limits: RequestLimits, _ length: ClientDataHashLength) throws(Reason) -> [UInt8] {
        let hash = Result { () throws(Reason) in try readClientDataHash(limits, length) }
        return try trace.noted("client data", hash) { shownClientData(limits, length) }
    }

    /// The client data of a request that states them; nil for one that states a hash.
    var clientData: [UInt8]? { (try? member("clientData", or: "client_data"))?.base64Bytes }

    private func readClientDataHash(
        _ limits: RequestLimits,
        _ length: ClientDataHashLength
    ) throws(Reason) -> [UInt8] {
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
        let bytes = try Self.decode(data)
        guard bytes.count <= limits.clientDataBytes else { throw .malformedRequest }
        return SHA256.hash(bytes).bytes
    }
}

extension RequestBody {
    private func bytes(
        _ name: StaticString,
        or other: StaticString? = nil,
        isFilled: Bool = false,
        expected: String = "base64"
    ) throws(Reason) -> [UInt8] {
        let bytes = Result { () throws(Reason) in
            let bytes = try Self.decode(try member(name, or: other))
            guard !isFilled || !bytes.isEmpty else { throw .malformedRequest }
            return bytes
        }
        return try trace.noted("\(name)", bytes) { shown(name, or: other, expected) }
    }

    /// A member that is a text, of which reports show no more.
    private func text(
        _ name: StaticString,
        or other: StaticString,
        expected: @autoclosure () -> String
    ) throws(Reason) -> JSONNode {
        let member = Result { () throws(Reason) in
            guard let member = try self.member(name, or: other), member.kind == .string else { throw .malformedRequest }
            return member
        }
        let isText = (try? member.get()) != nil
        return try trace.noted("\(name)", member) {
            Comparison("\(name)", isText ? "a text" : "no text", expected: expected())
        }
    }

    /// The member under either spelling; both together are a fault. `null` counts as absent.
    private func member(_ camelCase: StaticString, or snakeCase: StaticString?) throws(Reason) -> JSONNode? {
        let first = present(camelCase)
        guard let snakeCase, let second = present(snakeCase) else { return first }
        guard first == nil else { throw .malformedRequest }
        return second
    }

    private func present(_ name: StaticString) -> JSONNode? { node[name].flatMap { $0.kind == .null ? nil : $0 } }

    private static func decode(_ member: JSONNode?) throws(Reason) -> [UInt8] {
        guard let bytes = member?.base64Bytes else { throw .malformedRequest }
        return bytes
    }

    private func shownClientData(_ limits: RequestLimits, _ length: ClientDataHashLength) -> Comparison {
        let count: String
        switch length {
        case .bytes(let bytes): count = "\(Counted.text(bytes, "byte"))"
        case .any: count = "1 to \(limits.clientDataHashBytes) bytes"
        }
        let expected =
            "either clientDataHash, base64 of \(count), or clientData, base64 of up to \(limits.clientDataBytes) bytes"
        let hash = shown("clientDataHash", or: "client_data_hash", expected).presented
        let data = shown("clientData", or: "client_data", expected).presented
        return Comparison("client data", "clientDataHash \(hash), clientData \(data)", expected: expected)
    }

    /// Describes a member: its size, never its content.
    private func shown(_ name: StaticString, or other: StaticString?, _ expected: String) -> Comparison {
        let found = [present(name), other.flatMap { present($0) }].compactMap(\.self)
        let presented: String
        switch (found.count, found.first?.kind, found.first?.base64Bytes) {
        case (0, _, _): presented = "absent"
        case (2, _, _): presented = "under both spellings"
        case (_, .string, let bytes?): presented = Counted.text(bytes.count, "byte")
        case (_, .string, nil):
            presented = "\(Counted.text(found[0].writtenBytes, "character")) that are not base64"
        case (_, .bool, _): presented = found[0].bool == true ? "true" : "false"
        default: presented = "a value of another type"
        }
        return Comparison("\(name)", presented, expected: expected)
    }
}
