import Foundation
import HTTP
import TestKit
import Testing

@testable import HTTPClient

@Suite("Calls of the HTTP client")
struct HTTPClientTests {
    private static func echo(_ call: HTTPCall, _ responder: any HTTPResponder) {
        responder.answer(HTTPReply(status: 200, headers: [("X-Request-Id", "id-\(call.body.count)")], body: call.body))
    }

    @Test func `two hundred calls at once each get their own answer`() throws {
        let lab = try ClientLab(handler: Self.echo)
        for tag in 0..<UInt64(200) {
            let call = ClientCall(tag: tag, method: .post, url: lab.url("/echo"), body: Array("call \(tag)".utf8))
            lab.client.enqueue(call)
        }
        #expect(lab.client.openCalls == 200)
        let endings = lab.endings(200)
        #expect(Set(endings.map(\.tag)) == Set(0..<200) && endings.count == 200)
        #expect(endings.allSatisfy { $0.answer?.body == Array("call \($0.tag)".utf8) && $0.status == 200 })
        #expect(endings.allSatisfy { $0.microseconds > 0 } && lab.client.openCalls == 0)
    }

    @Test func `calls one after the other share a connection, and a limit holds for many at once`() throws {
        var options = ClientOptions()
        options.connections = 3
        let lab = try ClientLab(options, handler: Self.echo)
        for _ in 0..<5 { #expect(lab.ask("/one")?.status == 200) }
        #expect(lab.client.connectionsMade == 1)
        for tag in 0..<UInt64(40) {
            lab.client.enqueue(ClientCall(tag: tag, method: .post, url: lab.url("/many"), body: [1]))
        }
        #expect(lab.endings(40).count { $0.status == 200 } == 40)
        #expect((2...3).contains(lab.client.connectionsMade))
    }

    @Test func `a request has the given headers, and no type of its own where none is given`() throws {
        let lab = try ClientLab(handler: Self.echo)
        lab.client.enqueue(ClientCall(tag: 1, method: .post, url: lab.url("/v1/a%3Ab:verb?x=1")))
        let typed = [("Content-Type", "application/json"), ("X-Empty", "")]
        lab.client.enqueue(
            ClientCall(tag: 2, method: .post, url: lab.url("/typed"), headers: typed, body: [0x7B, 0x7D])
        )
        lab.client.enqueue(ClientCall(tag: 3, method: .get, url: lab.url("/get")))
        #expect(lab.endings(3).count == 3)
        let calls = lab.calls
        let first = try #require(calls.first { $0.target == Array("/v1/a%3Ab:verb?x=1".utf8) })
        #expect(first.method == Array("POST".utf8) && first.body.isEmpty)
        #expect(first.values("content-type") == [] && first.values("expect") == [])
        #expect(first.values("content-length") == [Array("0".utf8)])
        let second = try #require(calls.first { $0.target == Array("/typed".utf8) })
        #expect(second.values("content-type") == [Array("application/json".utf8)] && second.values("x-empty") == [[]])
        #expect(second.body == [0x7B, 0x7D])
        #expect(calls.contains { $0.method == Array("GET".utf8) && $0.body.isEmpty })
    }

    @Test func `headers that are asked for are kept, others are not`() throws {
        var options = ClientOptions()
        options.headers = ["x-request-id"]
        let lab = try ClientLab(options, handler: Self.echo)
        let answer = try #require(lab.ask("/", .post, [1, 2, 3])?.answer)
        #expect(answer.value("x-request-id") == Array("id-3".utf8))
        #expect(answer.headers.map(\.name) == ["x-request-id"] && answer.value("date") == nil)
    }

    @Test func `a redirect is an answer and is not followed`() throws {
        let lab = try ClientLab { call, responder in
            responder.answer(HTTPReply(status: 307, headers: [("Location", "/elsewhere")]))
        }
        #expect(lab.ask("/here")?.status == 307)
        #expect(lab.calls.map(\.target) == [Array("/here".utf8)])
    }

    /// A body of the limit, and one byte more.
    @Test(arguments: [(1 << 20, true), (1 << 20 + 1, false)])
    func `a body may be as large as the limit, and no larger`(size: Int, fits: Bool) throws {
        let lab = try ClientLab { _, responder in
            responder.answer(HTTPReply(status: 200, body: [UInt8](repeating: 0x61, count: size)))
        }
        let ending = try #require(lab.ask("/large", .get, []))
        #expect(ending.answer?.body.count == (fits ? size : nil))
        #expect(ending.failure == (fits ? nil : .tooLarge))
    }

    @Test func `a call without an answer ends after its time, and the next one is answered`() throws {
        var options = ClientOptions()
        options.totalMilliseconds = 300
        let kept = KeptResponders()
        let lab = try ClientLab(options) { call, responder in
            if call.target == Array("/never".utf8) { kept.add(responder) } else { Self.echo(call, responder) }
        }
        let ending = try #require(lab.ask("/never"))
        #expect(ending.failure == .timedOut && ending.microseconds >= 250_000)
        #expect(lab.ask("/now")?.status == 200)
        kept.end()
    }

    @Test func `a port where nothing listens refuses the connection`() throws {
        let ending = try ClientLab.ending(ClientCall(tag: 7, method: .post, url: "http://127.0.0.1:1/x", body: [1]))
        #expect(ending.tag == 7 && ending.failure == .unconnected)
    }

    /// A URL or header, and whether it may be sent.
    @Test(
        arguments: [
            ("file:///etc/passwd", "X-A", "b"), ("ftp://127.0.0.1/x", "X-A", "b"), ("nonsense://x", "X-A", "b"),
            ("http://127.0.0.1:1/\r\nX: y", "X-A", "b"), ("http://127.0.0.1:1/", "X-A", "b\r\nX-B: c"),
            ("http://127.0.0.1:1/", "X-A:", "b"), ("http://127.0.0.1:1/", "", "b"),
            ("http://127.0.0.1:1/", "X-A", "b\0"),
        ]
    )
    func `a call that is no plain HTTP is refused before anything is sent`(
        url: String,
        name: String,
        value: String
    ) throws {
        let call = ClientCall(tag: 1, method: .get, url: url, headers: [(name, value)])
        #expect(try ClientLab.ending(call).failure == .invalid)
    }

    @Test func `a call that is given up has no ending, and the others have theirs`() throws {
        let kept = KeptResponders()
        let lab = try ClientLab { call, responder in
            if call.target == Array("/never".utf8) { kept.add(responder) } else { Self.echo(call, responder) }
        }
        lab.client.enqueue(ClientCall(tag: 1, method: .post, url: lab.url("/never"), body: [1]))
        lab.client.enqueue(ClientCall(tag: 2, method: .post, url: lab.url("/now"), body: [1]))
        #expect(lab.endings(1).map(\.tag) == [2])
        lab.client.cancel(1)
        #expect(lab.client.openCalls == 0 && lab.client.poll(milliseconds: 20).isEmpty)
        kept.end()
    }

    @Test func `a client goes away with calls open`() throws {
        let kept = KeptResponders()
        let lab = try ClientLab { _, responder in kept.add(responder) }
        var client: HTTPClient? = try HTTPClient()
        for tag in 0..<UInt64(20) {
            client?.enqueue(ClientCall(tag: tag, method: .post, url: lab.url("/never"), body: [1]))
        }
        func sees(_ count: Int, _ client: HTTPClient?) -> Bool {
            eventually {
                _ = client?.poll(milliseconds: 10)
                return lab.calls.count
            } until: {
                $0 == count
            }
        }
        #expect(sees(20, client))
        client = nil
        kept.end()
        lab.client.enqueue(ClientCall(tag: 1, method: .get, url: lab.url("/never")))
        #expect(sees(21, lab.client))
        kept.end()
    }

    @Test func `an authorities file that is absent makes no connection`() throws {
        let lab = try ClientLab(handler: Self.echo)
        var options = ClientOptions()
        options.authorities = "/nowhere/ca.pem"
        let call = ClientCall(tag: 1, method: .get, url: "https://127.0.0.1:\(lab.server.port)/")
        #expect(try ClientLab.ending(call, options).failure == .unconnected)
    }
}
