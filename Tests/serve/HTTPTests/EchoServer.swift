import HTTP
import TestKit
import Testing
internal import Threads

/// A server that remembers what its handler saw and says it back.
final class EchoServer: Sendable {
    typealias Answer = @Sendable (HTTPCall, any HTTPResponder) -> Void

    static let echoing: Answer = { call, responder in responder.answer(EchoServer.echo(call)) }

    let server: HTTPCallServer
    private let seen = Locked<[HTTPCall]>([])

    init(_ limits: HTTPCallLimits = HTTPCallLimits(), answer: @escaping Answer = echoing) throws {
        let seen = seen
        server = try HTTPCallServer(address: "127.0.0.1", port: 0, limits: limits) { call, responder in
            seen.withLock { $0.append(call) }
            answer(call, responder)
        }
    }

    var port: UInt16 { server.port }
    var calls: [HTTPCall] { seen.withLock { $0 } }

    func client() -> RawClient? { RawClient(port) }

    /// A server and its first client.
    static func pair(
        _ limits: HTTPCallLimits = HTTPCallLimits(),
        answer: @escaping Answer = echoing
    ) throws -> (server: EchoServer, client: RawClient) {
        let server = try EchoServer(limits, answer: answer)
        return (server, try #require(server.client()))
    }

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
    var isAlive: Bool { client()?.get("/alive")?.status == "200" }

    static func echo(_ call: HTTPCall) -> HTTPReply {
        let text = String(decoding: call.method + [0x20] + call.target, as: UTF8.self)
        return HTTPReply(status: 200, headers: [(name: "Content-Type", value: "text/x")], body: Array(text.utf8))
    }
}

extension RawClient {
    /// The answer to a request for this path.
    func get(_ path: String = "/a") -> (status: String, head: String, body: String)? {
        write("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n") ? readAnswer() : nil
    }
}

/// Keeps calls until they are answered all at once.
final class HeldResponders: Sendable {
    private let list = Locked<[any HTTPResponder]>([])

    func add(_ responder: any HTTPResponder) { list.withLock { $0.append(responder) } }

    /// The server counts a call before it hands it over.
    var count: Int { list.withLock(\.count) }

    func answer() {
        let held = list.withLock { list in
            defer { list = [] }
            return list
        }
        for responder in held { responder.answer(HTTPReply(status: 200)) }
    }
}
