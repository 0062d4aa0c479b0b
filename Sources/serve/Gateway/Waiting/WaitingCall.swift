internal import AppAttest
internal import AppCheck
internal import HTTP
internal import JSON

/// A call whose request is produced and whose answer is open.
struct WaitingCall {
    let id: [UInt8]
    /// The key of the record, and so of its answers.
    let key: [UInt8]
    let partition: Int32
    let answer: Verb.Answer
    /// The value as it was produced.
    let value: [UInt8]
    let responder: any HTTPResponder
    /// Makes another reply of an answer: `/v1/verify` answers in its own way.
    var translate: (@Sendable (HTTPReply) -> HTTPReply)?
    /// The start and the end of the wait, in milliseconds of the monotonic clock.
    let since: Int64
    let deadline: Int64
    let verb: GatewayVerb

    /// The bytes that wait: the value, and about as much as the rest of a call needs.
    var byteCount: Int { value.count + 1_024 }

    /// Whether the broker has acknowledged the record.
    var isWritten = false
    /// Whether the result, once it has come, accepts the request.
    var isAccepted = false
    /// The token from the tokens topic, once it has come.
    var token: [UInt8]?

    /// The reply once both halves are there.
    func reply() -> HTTPReply? {
        guard isAccepted, let token else { return nil }
        return GatewayReply.answer(200, token, id: id)
    }

    /// The reply of a result, as far as this call needs it.
    ///
    /// - Parameter value: of the results topic: `run`'s own, so what does not fit the contract is a fault of ours.
    /// - Returns: nil for a record that is not a result.
    func reply(to value: [UInt8]) -> HTTPReply? {
        guard let root = try? JSONDocument(parsing: value).root, let status = root["status"],
            let code = status["code"]?.integer, let name = status["status"]?.string,
            let message = status["message"]?.string, HTTPReply.statuses.contains(Int(code))
        else { return nil }
        guard code == 200 else {
            let status = Status(code: Int(code), status: name, message: ExactText(message))
            return GatewayReply.error(status, id: id, reason: answer == .result ? root["reason"]?.string : nil)
        }
        switch answer {
        case .token: return nil
        case .result: return GatewayReply.answer(200, value, id: id)
        case .response:
            let isConsumed = root["response"]?["alreadyConsumed"]?.bool == true
            return GatewayReply.answer(200, ExchangeAnswer.verification(alreadyConsumed: isConsumed), id: id)
        }
    }
}
