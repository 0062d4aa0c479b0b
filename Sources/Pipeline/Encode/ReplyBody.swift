internal import AppAttest
internal import AppCheck
internal import JSON

/// The value of a reply: the body of the REST answer.
enum ReplyBody {
    /// - Parameter answer: of the tokens topic.
    /// - Returns: nil where the result itself is the body: of our own verbs, whose callers want verdict and evidence.
    static func bytes(_ verdict: Verdict, answer: [UInt8]?) -> [UInt8]? {
        switch verdict.outcome {
        case .refused(_, let status), .deferred(_, let status): return error(status)
        case .accepted, .deadLetter, .applied: break
        }
        if let answer { return answer }
        guard case .verification(let alreadyConsumed)? = verdict.order else { return nil }
        return ExchangeAnswer.verification(alreadyConsumed: alreadyConsumed)
    }

    /// As Google's services write errors (google.rpc.Status).
    private static func error(_ status: Status) -> [UInt8] {
        var json = JSONWriter(capacity: 160)
        json.beginObject()
        json.key("error")
        json.beginObject()
        json.key("code")
        json.value(status.code)
        json.key("message")
        json.string(validUTF8: status.message.utf8)
        json.key("status")
        json.string(status.status)
        json.endObject()
        json.endObject()
        return json.takeBytes()
    }
}
