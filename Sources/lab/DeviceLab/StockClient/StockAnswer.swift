package import AppAttest
internal import JSON

/// The SDK's reading of a 2xx answer: exactly as strict and as lax as the SDK.
struct StockAnswer {
    struct Unreadable: Error, Equatable {
        let reason: String
    }

    let body: [UInt8]
    let isLimitedUse: Bool
    /// When it came.
    let time: EvaluationTime

    /// `challenge`; its `ttl` is ignored.
    func challenge() throws(Unreadable) -> [UInt8] { try Self.bytes(object(), "challenge") }

    func attestation() throws(Unreadable) -> (artifact: [UInt8], token: StockToken) {
        let answer = try object()
        let artifact = try Self.bytes(answer, "artifact")
        guard let token = answer["appCheckToken"], token.kind == .object else {
            throw Unreadable(reason: "no object appCheckToken")
        }
        return (artifact, try self.token(token))
    }

    func assertion() throws(Unreadable) -> StockToken { try token(object()) }

    private func object() throws(Unreadable) -> JSONNode {
        guard let root = try? JSONDocument(parsing: body).root, root.kind == .object else {
            throw Unreadable(reason: "no JSON object")
        }
        return root
    }

    private func token(_ node: JSONNode) throws(Unreadable) -> StockToken {
        guard let text = node["token"]?.string else { throw Unreadable(reason: "no string token") }
        // A number here raises an exception in the app.
        guard let ttl = node["ttl"]?.string else { throw Unreadable(reason: "no string ttl") }
        let seconds = Self.leadingNumber(ttl.replacing("s", with: ""))
        guard seconds != 0 else { throw Unreadable(reason: "a ttl of 0") }
        let life = Int64(min(max(seconds, -Self.longestSeconds), Self.longestSeconds) * 1000)
        let end = EvaluationTime(milliseconds: time.milliseconds + life)
        return StockToken(text: text, expiresAt: end, isLimitedUse: isLimitedUse)
    }

    /// A century: no intended life is longer.
    private static let longestSeconds = 3_155_760_000.0

    /// NSData with no options: the standard alphabet, padded, nothing else.
    private static func bytes(_ node: JSONNode, _ name: StaticString) throws(Unreadable) -> [UInt8] {
        guard let text = node[name]?.stringBytes else { throw Unreadable(reason: "no string \(name)") }
        guard text.count % 4 == 0, !text.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }),
            let bytes = Base64.decode(text)
        else { throw Unreadable(reason: "\(name) is not standard padded base64") }
        return bytes
    }

    /// NSString's `doubleValue`: the number at the start, after white space; 0 where there is none.
    private static func leadingNumber(_ text: String) -> Double {
        let start = text.drop { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
        var number = start.prefix { $0.isASCII && ($0.isNumber || "+-.eE".contains($0)) }
        while !number.isEmpty {
            if let value = Double(number) { return value }
            number.removeLast()
        }
        return 0
    }
}

/// The outcome of one wish for a token.
package enum StockOutcome: Sendable, Equatable {
    case token(StockToken)
    /// The cached session token, with more than 5 minutes left.
    case cached(StockToken)
    /// No call was made: an earlier failure forbids it until then.
    case backingOff(until: EvaluationTime)
    /// The worker's HTTP status, outside 200 to 299.
    case refused(status: Int)
    /// A 2xx answer that the SDK cannot read, with the fault. No backoff follows.
    case unreadable(String)
    /// No answer came. No backoff follows.
    case disconnected
    /// The key is not on this phone: the SDK has dropped it, and attests another at the next wish.
    case keyIsElsewhere
}

/// The client's reaction to an event: the wishes that it ended, in the order in which they came, and its next call.
package struct StockReply: Sendable, Equatable {
    package var outcomes: [StockOutcome]
    /// The call to be answered before any other event; nil = the client rests, or waits for the answer to an earlier
    /// call.
    package var call: StockCall?

    package init(outcomes: [StockOutcome] = [], call: StockCall? = nil) {
        (self.outcomes, self.call) = (outcomes, call)
    }
}
