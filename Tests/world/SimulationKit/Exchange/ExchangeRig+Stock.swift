internal import AppAttest
internal import AppCheck
package import DeviceLab
internal import Streams
package import TestKit

/// Google's stock client in front of the rig, with a gateway between them.
extension ExchangeRig {
    /// The outcome of a token request.
    package struct Served: Sendable {
        package var outcomes: [StockOutcome] = []
        /// In the order of the calls.
        package var calls: [StockCall] = []
        package var answers: [ExchangeAnswers] = []

        /// The token of the only outcome, if that is a fresh one.
        package var token: StockToken? {
            guard outcomes.count == 1, case .token(let token) = outcomes[0] else { return nil }
            return token
        }
    }

    /// - Parameter lost: whether a call's answer never reaches the client.
    package func serve(
        _ client: inout StockClient,
        limitedUse: Bool = false,
        lost: (StockCall) -> Bool = { _ in false }
    ) throws -> Served {
        var served = Served()
        var reply = client.want(limitedUse: limitedUse, at: EvaluationTime(milliseconds: time))
        served.outcomes += reply.outcomes
        while let call = reply.call {
            let answers = try answer(call)
            served.calls.append(call)
            served.answers.append(answers)
            let now = EvaluationTime(milliseconds: time)
            if lost(call) {
                reply = client.disconnect(at: now)
            } else {
                let body = answers.outputs.first { $0.stream == .tokens }?.value ?? []
                reply = client.answer(status: Int(answers.code ?? 500), body: body, at: now)
            }
            served.outcomes += reply.outcomes
        }
        return served
    }

    private func answer(_ call: StockCall) throws -> ExchangeAnswers {
        let headers = call.headers.map { RecordHeader($0.name, $0.value) }
        return try send(ExchangeRequest(call.value, key: call.keyID?.recordKey, headers: headers))
    }
}
