import HTTP
import TestKit
import Testing

@testable import HTTPClient

@Suite("HTTP calls through a proxy, and long answers")
struct TunnelTests {
    /// A proxy that answers what comes through its tunnel by itself.
    private static func proxy(opens: Bool) -> ScriptedServer? {
        ScriptedServer(
            opens
                ? [
                    "HTTP/1.1 200 OK\r\nX-Outer: 1\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nX-Inner: 1\r\nContent-Length: 2\r\n\r\nok",
                ] : ["HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"]
        )
    }

    private static let call = ClientCall(
        tag: 1,
        method: .post,
        url: "http://127.0.0.2:7/path",
        headers: [("Authorization", "secret-token")],
        body: [0x61]
    )

    @Test func `a proxy opens a tunnel and gets none of the call's headers`() throws {
        let proxy = try #require(Self.proxy(opens: true))
        var options = ClientOptions()
        options.proxy = "http://127.0.0.1:\(proxy.port)"
        options.headers = nil
        let answer = try #require(try ClientLab.ending(Self.call, options).answer)
        #expect(answer.status == 200 && answer.body == Array("ok".utf8))
        #expect(answer.value("x-inner") == Array("1".utf8) && answer.value("x-outer") == nil)
        let requests = proxy.requests
        #expect(requests.count == 2)
        #expect(requests[0].hasPrefix("CONNECT 127.0.0.2:7 HTTP/1.1\r\n") && !requests[0].contains("secret-token"))
        #expect(requests[1].hasPrefix("POST /path HTTP/1.1\r\n") && requests[1].contains("secret-token"))
    }

    @Test func `a proxy that refuses the tunnel gets nothing of the call`() throws {
        let proxy = try #require(Self.proxy(opens: false))
        var options = ClientOptions()
        options.proxy = "http://127.0.0.1:\(proxy.port)"
        let ending = try ClientLab.ending(Self.call, options)
        #expect(ending.answer == nil && ending.failure == .broken)
        #expect(proxy.requests.count == 1 && proxy.requests.allSatisfy { !$0.contains("secret-token") })
    }

    /// A body of the limit, and one byte more.
    @Test(arguments: [(100_000, 100_000), (100_001, 100_000)])
    func `a longer body is cut where the options say so, and its answer counts`(size: Int, kept: Int) throws {
        var options = ClientOptions()
        (options.mostBodyBytes, options.cutsBodies, options.headers) = (100_000, true, nil)
        let lab = try ClientLab(options) { _, responder in
            let body = [UInt8](repeating: 0x61, count: size)
            responder.answer(HTTPReply(status: 503, headers: [("X-Some", "1")], body: body))
        }
        let answer = try #require(lab.ask("/large", .get, [])?.answer)
        #expect(answer.status == 503 && answer.body.count == kept)
        #expect(answer.value("x-some") == Array("1".utf8) && answer.value("content-length") != nil)
    }
}
