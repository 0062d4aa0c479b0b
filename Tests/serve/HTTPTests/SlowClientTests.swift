import Foundation
import HTTP
import TestKit
import Testing

@Suite("Slow, idle and greedy clients get what the limits allow", .serialized, .waiting)
struct SlowClientTests {
    private static var quick: HTTPCallLimits {
        var limits = HTTPCallLimits()
        // More than a busy machine keeps an honest client from writing.
        limits.requestSeconds = 3
        return limits
    }

    /// How long it takes at least until the server has closed, while a byte is sent every 50 ms; nil = it does not.
    private static func drip(_ client: RawClient, _ byte: String) -> Duration? {
        let stopwatch = Stopwatch()
        let isClosed = eventually {
            pause(milliseconds: 50)
            return client.write(byte)
        } until: {
            !$0
        }
        return isClosed ? stopwatch.elapsed : nil
    }

    @Test(arguments: [
        ("", "G"), ("GET /a HTTP/1.1\r\n", "a"), ("GET /a HTTP/1.1\r\nHost: h\r\nA: ", "a"),
        ("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n", "a"),
        ("PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n", "a"),
    ])
    func `a request that drips in is cut, at the first of a connection and later`(start: String, byte: String) throws {
        let server = try EchoServer(Self.quick)
        let first = try #require(server.client())
        first.write(start)
        #expect(try #require(Self.drip(first, byte)) > .seconds(2))
        let later = try #require(server.client())
        #expect(later.get()?.status == "200")
        later.write(start)
        #expect(try #require(Self.drip(later, byte)) > .seconds(2))
        #expect(server.server.counts.timedOut == 2 && server.isAlive)
    }

    @Test func `a connection without a request is cut, one with an answer may be idle, one that waits is left alone`()
        throws
    {
        let server = try EchoServer(Self.quick) { call, responder in
            guard call.target == Array("/slow".utf8) else { return responder.answer(EchoServer.echo(call)) }
            later(milliseconds: 9_000) { responder.answer(EchoServer.echo(call)) }
        }
        let (silent, idle, waiting) = try (
            #require(server.client()), #require(server.client()), #require(server.client())
        )
        #expect(idle.get()?.status == "200")
        waiting.write("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(silent.readAll().isClosed)
        #expect(waiting.readAnswer()?.body == "GET /slow")
        #expect(idle.get()?.status == "200")
        #expect(server.server.counts.timedOut == 1)
    }

    @Test func `an idle connection is closed in the end`() throws {
        var limits = HTTPCallLimits()
        limits.idleSeconds = 1
        let (server, client) = try EchoServer.pair(limits)
        #expect(client.get()?.status == "200")
        #expect(client.readAll() == ("", true))
        #expect(server.server.counts.timedOut == 0)
    }

    @Test(arguments: [
        "GET /a HTTP/1.1\r\nHost: h\r\n\r\n", "GET /a HTTP/1.1\r\nHost: h\r\n", "POST /a HTTP/1.1\r\n", "",
    ])
    func `a client that ends its side is let go`(request: String) throws {
        let server = try EchoServer(Self.quick)
        for _ in 0..<20 {
            let client = try #require(server.client())
            client.write(request)
            client.finishWriting()
            let answer = client.readAll()
            #expect(answer.isClosed && answer.text.hasSuffix(request.hasSuffix("\r\n\r\n") ? "GET /a" : ""))
        }
        #expect(server.comes { server.server.counts.openConnections == 0 } && server.server.counts.timedOut == 0)
    }

    @Test func `a client that takes no answer is cut`() throws {
        let body = [UInt8](repeating: 0x61, count: 16_000_000)
        let (server, client) = try EchoServer.pair(Self.quick) { _, responder in
            responder.answer(HTTPReply(status: 200, body: body))
        }
        client.write("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(server.comes { server.server.counts.timedOut == 1 && server.server.counts.openConnections == 0 })
    }

    @Test(arguments: [false, true])
    func `many idle connections do not lock out others`(areServed: Bool) throws {
        var limits = HTTPCallLimits()
        limits.connections = 400
        let server = try EchoServer(limits)
        var idle: [RawClient] = []
        for _ in 0..<2_000 {
            let client = try #require(server.client())
            if areServed { #expect(client.get()?.status == "200") }
            idle.append(client)
        }
        for _ in 0..<20 { #expect(server.isAlive) }
        let counts = server.server.counts
        #expect(counts.openConnections <= 400 && counts.timedOut == 0)
        // The youngest are left, the oldest are gone.
        #expect(idle.first?.readAll().isClosed == true)
        #expect(idle.last?.get()?.status == "200")
    }

    @Test(arguments: [("GET /a HTTP/1.1\r\nHost: h\r\nA: ", ""), ("GET /a HTTP/1.1\r\n", ": b\r\n"), ("GET /", "")])
    func `endless headers are refused`(start: String, end: String) throws {
        let (server, client) = try EchoServer.pair()
        client.write(start)
        let chunk = String(repeating: "a", count: 10_000) + end
        var written = 0
        // A server that kept them would take a gigabyte.
        while written < 100_000, client.write(chunk) { written += 1 }
        #expect(written < 100_000 && server.calls.isEmpty && server.isAlive)
    }

    @Test(arguments: [4_000, 20])
    func `a call whose headers are near the limit is answered, or never made`(each: Int) throws {
        let server = try EchoServer()
        var statuses: Set<String> = []
        for size in stride(from: 4_000, to: 37_200, by: each == 20 ? 400 : 50) {
            let client = try #require(server.client())
            let line = "X: " + String(repeating: "a", count: each - 5) + "\r\n"
            let rest = "Y: " + String(repeating: "b", count: size % each) + "\r\n\r\n"
            let seen = server.calls.count
            client.write("GET /a HTTP/1.1\r\nHost: h\r\n" + String(repeating: line, count: size / each) + rest)
            let status = client.readAnswer()?.status
            // Between the limit and the end of the memory the library may have no room for its own refusal either.
            let isRefused = status == "431" || status == nil
            #expect(status == "200" || (isRefused && server.calls.count == seen), "\(size): \(status ?? "none")")
            if let status { statuses.insert(status) }
        }
        #expect(statuses == ["200", "431"])
    }

    @Test func `headers of 30,000 bytes are served, those of 64,000 refused with 431, targets with 414`() throws {
        let server = try EchoServer()
        func ask(_ target: Int, _ header: Int) throws -> String? {
            let client = try #require(server.client())
            let (path, value) = (String(repeating: "t", count: target), String(repeating: "v", count: header))
            client.write("GET /\(path) HTTP/1.1\r\nHost: h\r\nA: \(value)\r\n\r\n")
            return client.readAnswer()?.status
        }
        #expect(try ask(0, 30_000) == "200" && ask(15_000, 15_000) == "200")
        #expect(try ask(0, 64_000) == "431" && ask(64_000, 0) == "414")
    }

    @Test func `the limit of connections fits the limit of open files`() throws {
        var limits = HTTPCallLimits()
        limits.connections = 100_000_000
        let server = try EchoServer(limits)
        #expect(server.server.connectionLimit < 100_000_000 && server.server.connectionLimit > 0 && server.isAlive)
        #expect(try EchoServer().server.connectionLimit <= 16_384)
    }
}
