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
    /// The options of a refresher's calls, but for those that its configuration names.
    package static var options: ClientOptions {
        var options = ClientOptions()
        (options.connections, options.totalMilliseconds) = (64, 30_000)
        // One byte more shows that a body is too long.
        (options.mostBodyBytes, options.cutsBodies) = (ReceiptAnswer.mostBodyBytes + 1, true)
        // ``Risk/ReceiptAnswer`` reads no other.
        options.headers = ["date", "retry-after", "x-b3-traceid"]
        return options
    }

    private let client: HTTPClient
    private let settings: RiskSettings

    /// - Throws: ``CommandFault`` where the process has no descriptors left, or the authorities cannot be read.
    package init(_ settings: RiskSettings, _ options: ClientOptions = ReceiptCaller.options) throws(CommandFault) {
        var options = options
        (options.authorities, options.proxy) = (settings.authorities, settings.proxy)
        if let authorities = settings.authorities { _ = try WholeFile.read(authorities, most: 1) }
        do throws(ClientFailure) { client = try HTTPClient(options) } catch { throw CommandFault("\(error).") }
        self.settings = settings
    }

    /// Calls that have not ended.
    var openCalls: Int { client.openCalls }

    /// Begins the exchange of a receipt; ``poll(milliseconds:now:)`` reports its ending.
    ///
    /// - Parameters:
    ///   - receipt: the bytes as Apple signed them.
    ///   - authorization: the value of the header: a token, bare.
    ///   - tag: given back with the ending; of this call alone.
    package func begin(_ receipt: [UInt8], _ environment: Environment, authorization: [UInt8], tag: UInt64) {
        client.enqueue(
            ClientCall(
                tag: tag,
                method: .post,
                url: settings.endpoint(environment),
                headers: [("Authorization", String(decoding: authorization, as: UTF8.self))],
                body: Base64.encode(receipt)
            )
        )
    }

    /// Begins a call with neither receipt nor token: any answer shows that there is a way to the host.
    func probe(_ environment: Environment, tag: UInt64) {
        client.enqueue(ClientCall(tag: tag, method: .get, url: settings.endpoint(environment)))
    }

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

/// How a call ended.
package struct ExchangeEnding: Sendable {
    /// The client's account of it.
    package let client: ClientEnding
    /// When the answer was there.
    package let time: EvaluationTime
    package let reply: CallReply

    init(_ ending: ClientEnding, at time: EvaluationTime) {
        (client, self.time) = (ending, time)
        switch ending.outcome {
        case .failed(let failure): reply = failure.kind == .timedOut ? .timedOut : .failed
        case .answered(let answer):
            reply = .answered(
                ReceiptAnswer(status: answer.status, headers: answer.headers, body: answer.body, at: time)
            )
        }
    }
}
