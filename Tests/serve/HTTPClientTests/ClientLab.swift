import Foundation
import HTTP
import TestKit
import Testing

@testable import HTTPClient

/// A client and a server on loopback.
struct ClientLab {
    let server: HTTPCallServer
    let client: HTTPClient
    /// What the server has got.
    let seen = SeenCalls()

    init(
        _ options: ClientOptions = ClientOptions(),
        limits: HTTPCallLimits = HTTPCallLimits(),
        handler: @escaping @Sendable (HTTPCall, any HTTPResponder) -> Void
    ) throws {
        let seen = seen
        server = try HTTPCallServer(address: "127.0.0.1", port: 0, limits: limits) { call, responder in
            seen.add(call)
            handler(call, responder)
        }
        client = try HTTPClient(options)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(server.port)\(path)" }

    /// Polls until so many calls have ended.
    func endings(_ count: Int) -> [ClientEnding] { Self.endings(client, count) }

    static func endings(_ client: HTTPClient, _ count: Int) -> [ClientEnding] {
        var (endings, watch): ([ClientEnding], _) = ([], StandstillWatch<Int>())
        while endings.count < count, !watch.isStill(endings.count) { endings += client.poll(milliseconds: 50) }
        return endings
    }
}

/// A list behind a lock.
final class SeenCalls: @unchecked Sendable {
    private let lock = NSLock()
    private var calls: [HTTPCall] = []

    var all: [HTTPCall] { lock.withLock { calls } }

    func add(_ call: HTTPCall) { lock.withLock { calls.append(call) } }
}

extension ClientEnding {
    var status: Int? { if case .answered(let answer) = outcome { answer.status } else { nil } }
    var answer: ClientAnswer? { if case .answered(let answer) = outcome { answer } else { nil } }
    var failure: ClientFailure.Kind? { if case .failed(let failure) = outcome { failure.kind } else { nil } }
}
