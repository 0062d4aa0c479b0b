package import AppCheck
internal import Crypto
package import JSON
package import Streams

/// Everything that came out for one request.
package struct ExchangeAnswers: Sendable {
    package struct Unfit: Error, CustomStringConvertible {
        package let description: String
    }

    package let outputs: [OutboundRecord]
    /// nil = the request became a dead letter.
    package let result: JSONNode?
    /// The REST answer on the tokens topic.
    package let answer: JSONNode?
    package let event: JSONNode?

    /// - Throws: unless there is exactly one result or dead letter, at most one answer and at most one event.
    package init(_ outputs: [OutboundRecord]) throws {
        func one(_ stream: OutputTopic) throws -> OutboundRecord? {
            let found = outputs.filter { $0.stream == stream }
            guard found.count <= 1 else { throw Unfit(description: "\(found.count) records on \(stream)") }
            return found.first
        }
        let (result, letter) = (try one(.results), try one(.deadLetters))
        guard (result == nil) != (letter == nil) else { throw Unfit(description: "neither or both") }
        self.outputs = outputs
        self.result = try result.map { try JSONDocument(parsing: $0.value ?? []).root }
        answer = try one(.tokens).map { try JSONDocument(parsing: $0.value ?? []).root }
        event = try one(.events).map { try JSONDocument(parsing: $0.value ?? []).root }
    }

    package var replies: [OutboundRecord] { outputs.filter { $0.stream == .replies } }
    package var receipts: [OutboundRecord] { outputs.filter { $0.stream == .receipts } }
    package var verdict: String? { result?["verdict"]?.string }
    package var reason: String? { result?["reason"]?.string }
    package var code: Int64? { result?["status"]?["code"]?.integer }
    package var isDuplicate: Bool { result?["duplicate"]?.bool ?? false }
    /// `accepted` or the reason.
    package var summary: String? { reason ?? verdict }
    package var eventName: String? { event?["event"]?.string }
    package var challenge: [UInt8]? { answer?["challenge"]?.base64Bytes }
    package var artifact: [UInt8]? { answer?["artifact"]?.base64Bytes }
    package var counter: Int64? { result?["evidence"]?["counter"]?.integer }

    /// The token's text.
    package var tokenText: String? { (answer?["appCheckToken"] ?? answer)?["token"]?.string }
    package var token: ExchangeToken? { tokenText.flatMap { ExchangeToken($0) } }
    package var ttl: String? { (answer?["appCheckToken"] ?? answer)?["ttl"]?.string }

    /// A stream's content as text.
    package func text(_ stream: OutputTopic) -> String? {
        outputs.first { $0.stream == stream }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A token taken apart.
package struct ExchangeToken: Sendable {
    package let header: JSONNode
    package let payload: JSONNode
    private let signingInput: [UInt8]
    private let signature: [UInt8]

    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.json(parts[0]), let payload = Self.json(parts[1]),
            let signature = Base64.decode(Array(parts[2].utf8))
        else { return nil }
        (self.header, self.payload, self.signature) = (header, payload, signature)
        signingInput = Array((parts[0] + "." + parts[1]).utf8)
    }

    private static func json(_ part: Substring) -> JSONNode? {
        Base64.decode(Array(part.utf8)).flatMap { try? JSONDocument(parsing: $0).root }
    }

    package var id: String { payload["jti"]?.string ?? "" }
    package var subject: String? { payload["sub"]?.string }
    package var issuedAt: Int64? { payload["iat"]?.integer }
    package var expiresAt: Int64? { payload["exp"]?.integer }
    package var kid: String? { header["kid"]?.string }

    /// Whether the key of its `kid` signed it.
    package func isSigned(by keys: TokenKeyRing) -> Bool {
        kid.flatMap { keys[$0] }?.key.publicKey.isValid(signature, of: signingInput) ?? false
    }
}
