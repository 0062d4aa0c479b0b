internal import Broker
package import HTTPClient
internal import JSON
package import Traffic

/// Stock clients over HTTP: their calls go to a gateway, and no answer may be another call's.
package final class HTTPStockLink: StockLink {
    private static let requestID = "x-request-id"
    /// URLSession's default: after this the SDK sees a broken connection.
    private static let timeoutMilliseconds = 60_000
    private static let probeMilliseconds = 10_000
    private static let longestStatus = 40

    private let target: GatewayTarget
    private let client: HTTPClient
    private var pacer: Pacer
    private var open: [UInt64: (id: String, call: StockMember.Call)] = [:]
    private var lastTag: UInt64 = 0
    package private(set) var account = LinkAccount()

    /// - Parameters:
    ///   - connections: open at a time, at most.
    ///   - rate: calls per second; nil = as the answers come.
    package init(_ target: GatewayTarget, connections: Int, rate: Double? = nil) throws(ClientFailure) {
        self.target = target
        var options = ClientOptions()
        options.connections = connections
        options.totalMilliseconds = Self.timeoutMilliseconds
        options.headers = [Self.requestID]
        options.authorities = target.authorities
        client = try HTTPClient(options)
        pacer = Pacer(recordsPerSecond: rate)
    }

    /// Asks for the gateway's health, whose answer may be any.
    ///
    /// - Returns: why nothing answers there; nil where something does.
    package func probe() -> ClientFailure? {
        client.enqueue(ClientCall(tag: 0, method: .get, url: target.base + "/healthz"))
        let deadline = ContinuousClock.now + .milliseconds(Self.probeMilliseconds)
        while ContinuousClock.now < deadline {
            guard let ending = client.poll(milliseconds: 100).first else { continue }
            if case .failed(let failure) = ending.outcome { return failure }
            return nil
        }
        client.cancel(0)
        return ClientFailure(kind: .timedOut, description: "no answer within 10 s")
    }

    package var isReady: Bool { pacer.millisecondsToWait() == nil }

    package func send(_ call: StockMember.Call, id: String) {
        pacer.count()
        lastTag += 1
        open[lastTag] = (id, call)
        client.enqueue(target.request(call, tag: lastTag))
    }

    package func poll(milliseconds: Int) -> [LinkAnswer] {
        client.poll(milliseconds: milliseconds).compactMap { ending in
            guard let (id, call) = open.removeValue(forKey: ending.tag) else { return nil }
            switch ending.outcome {
            case .failed(let failure):
                account.note(failure)
                return .lost(id, reason: failure.description)
            case .answered(let answer):
                account.note(call, answer, requestID: answer.value(Self.requestID), ending.microseconds)
                let isGood = answer.status == 200
                return LinkAnswer(
                    id: id,
                    status: answer.status,
                    reason: isGood ? nil : Self.reason(answer),
                    body: isGood ? answer.body : []
                )
            }
        }
    }

    package func forget(_ id: String) {
        guard let tag = open.first(where: { $0.value.id == id })?.key else { return }
        open[tag] = nil
        client.cancel(tag)
        account.noteForgotten()
    }

    package func close() { account.connections = client.connectionsMade }

    /// HTTP has no reason: its status, and the name that the body gives it.
    static func reason(_ answer: ClientAnswer) -> String {
        let name = (try? JSONDocument(parsing: answer.body).root["error"]?["status"]?.string) ?? nil
        guard let name, name.utf8.count <= longestStatus,
            name.utf8.allSatisfy({ (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "_") })
        else { return "\(answer.status)" }
        return "\(answer.status) \(name)"
    }
}
