import Foundation
import HTTP
import TestKit

/// A server that remembers what its handler saw and says it back.
final class EchoServer: Sendable {
    let server: HTTPCallServer
    private let seen: Seen

    init(
        _ limits: HTTPCallLimits = HTTPCallLimits(),
        answer: @escaping @Sendable (HTTPCall, any HTTPResponder) -> Void = { call, responder in
            responder.answer(EchoServer.echo(call))
        }
    ) throws {
        let seen = Seen()
        self.seen = seen
        server = try HTTPCallServer(address: "127.0.0.1", port: 0, limits: limits) { call, responder in
            seen.add(call)
            answer(call, responder)
        }
    }

    var port: UInt16 { server.port }
    var calls: [HTTPCall] { seen.calls }

    func client() -> RawClient? { RawClient(port) }

    /// Of one request that ends its connection.
    func ask(_ request: String) -> String {
        guard let client = client(), client.write(request) else { return "" }
        client.finishWriting()
        return client.readAll().text
    }

    /// Whether something holds in the end: false once the server has counted nothing for a while.
    func comes(_ condition: () -> Bool) -> Bool {
        eventually({ "\(server.counts)" }, until: { _ in condition() })
    }

    /// Whether a client that does everything right is served.
    var isAlive: Bool {
        guard let client = client(), client.write("GET /alive HTTP/1.1\r\nHost: h\r\n\r\n") else { return false }
        return client.readAnswer()?.status == "200"
    }

    static func echo(_ call: HTTPCall) -> HTTPReply {
        let text = String(decoding: call.method + [0x20] + call.target, as: UTF8.self)
        return HTTPReply(status: 200, headers: [(name: "Content-Type", value: "text/x")], body: Array(text.utf8))
    }

    private final class Seen: @unchecked Sendable {
        private let lock = NSLock()
        private var list: [HTTPCall] = []

        func add(_ call: HTTPCall) { lock.withLock { list.append(call) } }
        var calls: [HTTPCall] { lock.withLock { list } }
    }
}

/// Keeps calls until they are answered all at once.
final class HeldResponders: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [any HTTPResponder] = []

    func add(_ responder: any HTTPResponder) { lock.withLock { list.append(responder) } }

    func answer() {
        let held = lock.withLock {
            defer { list = [] }
            return list
        }
        for responder in held { responder.answer(HTTPReply(status: 200)) }
    }
}
