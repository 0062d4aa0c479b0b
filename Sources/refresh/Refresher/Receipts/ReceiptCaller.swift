package import AppAttest
package import HTTPClient
internal import JSON
package import Risk
package import Settings

/// Calls to Apple's receipt exchange, many at once over connections that are used again.
///
/// A call asks once: retries, rates and tokens are the caller's. No redirect is followed, since it could name another
/// host for the token.
package final class ReceiptCaller {
    /// The settings of the calls that no configuration names.
    package struct Limits {
        package var connections = 64
        var connectMilliseconds = 10_000
        var totalMilliseconds = 30_000
        /// Whether endings have all headers, or those alone that ``Risk/ReceiptAnswer`` reads.
        package var keepsAllHeaders = false

        package init(
            connections: Int = 64,
            connectMilliseconds: Int = 10_000,
            totalMilliseconds: Int = 30_000,
            keepsAllHeaders: Bool = false
        ) {
            (self.connections, self.connectMilliseconds, self.totalMilliseconds, self.keepsAllHeaders) = (
                connections, connectMilliseconds, totalMilliseconds, keepsAllHeaders
            )
        }
    }

    private static let headers = ["date", "retry-after", "x-b3-traceid"]

    private let client: HTTPClient
    private let settings: RiskSettings

    /// - Throws: ``CommandFault`` where the process has no descriptors left, or the authorities cannot be read.
    package init(_ settings: RiskSettings, _ limits: Limits = Limits()) throws(CommandFault) {
        var options = ClientOptions()
        options.connections = limits.connections
        options.connectMilliseconds = limits.connectMilliseconds
        options.totalMilliseconds = limits.totalMilliseconds
        // One byte more shows that a body is too long.
        options.mostBodyBytes = ReceiptAnswer.mostBodyBytes + 1
        options.cutsBodies = true
        options.headers = limits.keepsAllHeaders ? nil : Self.headers
        options.authorities = settings.authorities
        options.proxy = settings.proxy
        if let authorities = settings.authorities { _ = try WholeFile.read(authorities, most: 1) }
        do throws(ClientFailure) { client = try HTTPClient(options) } catch { throw CommandFault("\(error).") }
        self.settings = settings
    }

    /// Calls that have not ended.
    var openCalls: Int { client.openCalls }

    /// Connections made so far.
    var connectionsMade: Int { client.connectionsMade }

    /// Begins a call; ``poll(milliseconds:now:)`` reports its ending.
    package func begin(_ call: ExchangeCall) {
        client.enqueue(
            ClientCall(
                tag: call.tag,
                method: .post,
                url: settings.endpoint(call.environment),
                headers: [("Authorization", String(decoding: call.authorization, as: UTF8.self))],
                body: Base64.encode(call.receipt)
            )
        )
    }

    /// Begins a call with neither receipt nor token: any answer shows that there is a way to the host.
    func probe(_ environment: Environment, tag: UInt64) {
        client.enqueue(ClientCall(tag: tag, method: .get, url: settings.endpoint(environment)))
    }

    /// Ends a call without an answer.
    func cancel(_ tag: UInt64) { client.cancel(tag) }

    /// The calls that have ended.
    ///
    /// - Parameters:
    ///   - milliseconds: how long to wait for something to happen.
    ///   - now: the time when the answers are there.
    package func poll(milliseconds: Int, now: () -> EvaluationTime) -> [ExchangeEnding] {
        let endings = client.poll(milliseconds: milliseconds)
        guard !endings.isEmpty else { return [] }
        let time = now()
        return endings.map { ExchangeEnding($0, at: time) }
    }
}

/// One receipt to be exchanged.
package struct ExchangeCall: Sendable {
    /// Given back with the ending; of this call alone.
    var tag: UInt64
    var environment: Environment
    /// The bytes as Apple signed them.
    var receipt: [UInt8]
    /// The value of the header: a token, bare.
    var authorization: [UInt8]

    package init(tag: UInt64, environment: Environment, receipt: [UInt8], authorization: [UInt8]) {
        (self.tag, self.environment, self.receipt, self.authorization) = (tag, environment, receipt, authorization)
    }
}

/// How a call ended.
package struct ExchangeEnding: Sendable {
    package enum Result: Sendable {
        case answered(ReceiptAnswer, ClientAnswer)
        case failed(ClientFailure)
    }

    let tag: UInt64
    package let result: Result
    package let microseconds: Int64
    /// When the answer was there.
    package let time: EvaluationTime

    init(_ ending: ClientEnding, at time: EvaluationTime) {
        (tag, microseconds, self.time) = (ending.tag, ending.microseconds, time)
        switch ending.outcome {
        case .failed(let failure): result = .failed(failure)
        case .answered(let answer):
            let read = ReceiptAnswer(status: answer.status, headers: answer.headers, body: answer.body, at: time)
            result = .answered(read, answer)
        }
    }

    /// What the answer says; nil = there is none.
    package var answer: ReceiptAnswer? { if case .answered(let answer, _) = result { answer } else { nil } }

    /// - Parameter judge: compares a receipt with the one that was sent.
    package func outcome(judge: ([UInt8]) -> Swift.Result<ReceiptVerdict, RefreshRefusal>) -> CallOutcome {
        switch result {
        case .answered(let answer, _): CallOutcome(answer, judge: judge)
        case .failed(let failure): failure.kind == .timedOut ? .timedOut : .transport
        }
    }
}
