internal import Crypto
internal import JSON

/// Looks for answers that belong to another call: a challenge, a token or a request's id that was seen before, an
/// artifact of another key, a token of another app.
package struct CrossingWatch {
    /// The digests of the secrets that were seen, which are not kept themselves.
    private var seen: Set<Digest> = []
    package private(set) var crossings = 0
    /// The first crossing, as a clause.
    package private(set) var first: String?

    package init() {}

    /// - Parameters:
    ///   - body: of an answer with status 200.
    ///   - requestID: the gateway's `X-Request-Id`; nil where the answer has none.
    package mutating func note(_ call: StockMember.Call, body: [UInt8], requestID: [UInt8]?) {
        if let requestID, !isNew("request", requestID) { report("two answers have the same X-Request-Id") }
        guard case .sdk = call.asker, let root = try? JSONDocument(parsing: body).root else { return }
        if let challenge = root["challenge"]?.stringBytes, !isNew("challenge", challenge) {
            report("two calls got the same challenge")
        }
        if let artifact = root["artifact"]?.stringBytes, let keyID = call.keyID, !Self.names(artifact, keyID) {
            report("an artifact is of another key than its caller's")
        }
        guard let token = (root["appCheckToken"] ?? root)["token"]?.stringBytes else { return }
        if !call.mayShareToken, !isNew("token", token) { report("two calls got the same token") }
        if let subject = call.subject, !Self.isOf(subject, token) { report("a token is of another app") }
    }

    private mutating func isNew(_ kind: String, _ bytes: [UInt8]) -> Bool {
        seen.insert(SHA256.hash(Array(kind.utf8) + [0] + bytes)).inserted
    }

    private mutating func report(_ clause: String) {
        crossings += 1
        if first == nil { first = clause }
    }

    /// The key ID follows the artifact's version. Text that is not an artifact the client finds itself.
    private static func names(_ artifact: [UInt8], _ keyID: [UInt8]) -> Bool {
        guard let bytes = Base64.decode(artifact), bytes.count > 1 + keyID.count else { return true }
        return bytes[1...].starts(with: keyID)
    }

    private static func isOf(_ subject: String, _ token: [UInt8]) -> Bool {
        claims(of: token)?["sub"]?.stringBytes?.elementsEqual(subject.utf8) ?? false
    }

    /// The claims of a JWT, which nobody has verified.
    static func claims(of token: [UInt8]) -> JSONNode? {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64.decode(Array(parts[1])) else { return nil }
        return try? JSONDocument(parsing: payload).root
    }
}
