import HTTP
import TestKit
import Testing
internal import Threads

@testable import HTTPClient

/// A client and a server on loopback.
struct ClientLab {
    let server: HTTPCallServer
    let client: HTTPClient
    /// The calls that the server has got.
    private let seen = Locked<[HTTPCall]>([])

    init(
        _ options: ClientOptions = ClientOptions(),
        limits: HTTPCallLimits = HTTPCallLimits(),
        handler: @escaping @Sendable (HTTPCall, any HTTPResponder) -> Void
    ) throws {
        let seen = seen
        server = try HTTPCallServer(address: "127.0.0.1", port: 0, limits: limits) { call, responder in
            seen.withLock { $0.append(call) }
            handler(call, responder)
        }
        client = try HTTPClient(options)
    }

    var calls: [HTTPCall] { seen.withLock { $0 } }

    func url(_ path: String) -> String { "http://127.0.0.1:\(server.port)\(path)" }

    /// Polls until so many calls have ended.
    func endings(_ count: Int) -> [ClientEnding] { Self.endings(client, count) }

    /// The ending of one call.
    func ask(_ path: String, _ method: ClientCall.Method = .post, _ body: [UInt8] = [1]) -> ClientEnding? {
        client.enqueue(ClientCall(tag: 1, method: method, url: url(path), body: body))
        return endings(1).first
    }

    /// The ending of one call of a client that is made for it.
    static func ending(_ call: ClientCall, _ options: ClientOptions = ClientOptions()) throws -> ClientEnding {
        let client = try HTTPClient(options)
        client.enqueue(call)
        let ending = try #require(endings(client, 1).first)
        #expect(client.openCalls == 0)
        return ending
    }

    static func endings(_ client: HTTPClient, _ count: Int) -> [ClientEnding] {
        var (endings, watch): ([ClientEnding], _) = ([], StandstillWatch<Int>())
        while endings.count < count, !watch.isStill(endings.count) { endings += client.poll(milliseconds: 50) }
        return endings
    }
}

/// Responders whose calls wait.
final class KeptResponders: Sendable {
    private let responders = Locked<[any HTTPResponder]>([])

    func add(_ responder: any HTTPResponder) { responders.withLock { $0.append(responder) } }

    func end() {
        for responder in responders.withLock({ $0 }) { responder.answer(HTTPReply(status: 503)) }
    }
}

extension ClientEnding {
    var status: Int? { if case .answered(let answer) = outcome { answer.status } else { nil } }
    var answer: ClientAnswer? { if case .answered(let answer) = outcome { answer } else { nil } }
    var failure: ClientFailure.Kind? { if case .failed(let failure) = outcome { failure.kind } else { nil } }
}
