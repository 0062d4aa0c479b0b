internal import AppAttest
internal import AppCheck

/// The value of a reply: the body of the REST answer.
enum ReplyBody {
    /// - Parameters:
    ///   - answer: of the tokens topic.
    ///   - method: of the request; nil where that is unknown.
    /// - Returns: nil where the result itself is the body: for our own verbs, whose callers want verdict and evidence.
    static func bytes(_ verdict: Verdict, answer: [UInt8]?, method: Method?) -> [UInt8]? {
        switch verdict.outcome {
        case .refused(let reason, let status), .deferred(let reason, let status):
            return ExchangeAnswer.error(status, reason: method?.tellsReason == true ? reason.code : nil)
        case .accepted, .deadLetter, .applied: break
        }
        if let answer { return answer }
        guard case .verification(let alreadyConsumed)? = verdict.order else { return nil }
        return ExchangeAnswer.verification(alreadyConsumed: alreadyConsumed)
    }
}
