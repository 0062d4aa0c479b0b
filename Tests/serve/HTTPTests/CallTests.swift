import Foundation
import HTTP
import TestKit
import Testing

@Suite("Every call gets its own answer, whenever and from wherever it comes")
struct CallTests {
    /// Answers later, on other threads, in no order.
    private static func later(_ call: HTTPCall, _ responder: any HTTPResponder) {
        let delay = call.target.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xff }
        TestKit.later(milliseconds: delay) { responder.answer(EchoServer.echo(call)) }
    }

    @Test func `method, target, headers, body and peer arrive as sent`() throws {
        let (server, client) = try EchoServer.pair()
        client.write(
            "POST /v1/x%3Ay?key=%41 HTTP/1.1\r\nHOST: h:1\r\nX-A: 1\r\nx-b:\t 2 3 \r\nX-a: \r\nContent-Length: 2\r\n\r\n\0z"
        )
        #expect(client.readAnswer()?.body == "POST /v1/x%3Ay?key=%41")
        let call = try #require(server.calls.first)
        #expect(call.method == Array("POST".utf8) && call.body == [0, 0x7a])
        let names = call.headers.map { String(decoding: $0.name, as: UTF8.self) }
        #expect(names == ["host", "x-a", "x-b", "x-a", "content-length"])
        #expect(call.values("x-a") == [Array("1".utf8), []] && call.values("x-b") == [Array("2 3".utf8)])
        #expect(call.values("X-A").isEmpty && call.peer.bytes == [127, 0, 0, 1])
    }

    @Test(arguments: [(0, "200"), (1, "200"), (65_536, "200"), (65_537, "413"), (600_000, "413")])
    func `a body may have 65,536 bytes`(count: Int, status: String) throws {
        let (server, client) = try EchoServer.pair()
        client.write("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\r\n")
        client.write([UInt8](repeating: 0x61, count: count))
        #expect(client.readAnswer()?.status == status)
        #expect(server.calls.map(\.body.count) == (status == "200" ? [count] : []))
        if status == "413" { #expect(client.readAll().isClosed) }
    }

    @Test func `no answer may be stored, unless it says that it may`() throws {
        let server = try EchoServer { call, responder in
            switch call.target {
            case Array("/none".utf8): return
            case Array("/kept".utf8):
                responder.answer(HTTPReply(status: 200, headers: [(name: "cache-control", value: "public")]))
            default: responder.answer(EchoServer.echo(call))
            }
        }
        let requests = [
            "GET /a", "HEAD /a", "GET /none", "GET /kept", "OPTIONS *", "GET /a\r\nExpect: x", "GET /ä",
        ]
        for request in requests {
            let parts = request.split(separator: "\r\n", maxSplits: 1)
            let more = parts.count == 2 ? "\(parts[1])\r\n" : ""
            let answer = server.ask("\(parts[0]) HTTP/1.1\r\nHost: h\r\n\(more)\r\n").lowercased()
            let values = answer.components(separatedBy: "\r\ncache-control: ").dropFirst().map {
                $0.prefix { $0 != "\r\n" }
            }
            #expect(values == [request == "GET /kept" ? "public" : "no-store"], "\(request): \(answer)")
        }
    }

    @Test func `one asks before it sends a body, and hears yes or 413`() throws {
        let server = try EchoServer()
        let client = try #require(server.client())
        client.write("POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        #expect(client.readSome().map { String(decoding: $0, as: UTF8.self) } == "HTTP/1.1 100 Continue\r\n\r\n")
        client.write("abc")
        #expect(client.readAnswer()?.status == "200")
        client.write("POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 65537\r\n\r\n")
        #expect(client.readAnswer()?.status == "413")
    }

    @Test func `headers are sent as given, and HEAD gets no body`() throws {
        let server = try EchoServer { _, responder in
            let headers = [(name: "X-A", value: "1"), (name: "X-A", value: "2")]
            responder.answer(HTTPReply(status: 429, headers: headers, body: Array("body".utf8), closes: true))
        }
        let get = server.ask("GET /a HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(
            get.hasPrefix("HTTP/1.1 429 ") && get.contains("\r\nX-A: 1\r\nX-A: 2\r\n") && get.hasSuffix("\r\n\r\nbody")
        )
        #expect(get.contains("\r\nConnection: close\r\n") && get.contains("\r\nContent-Length: 4\r\n"))
        let head = server.ask("HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(head.contains("\r\nContent-Length: 4\r\n") && head.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [false, true])
    func `a connection serves 100 requests, one after the other and at once`(isPipelined: Bool) throws {
        let server = try EchoServer(answer: Self.later)
        let client = try #require(server.client())
        var expected: [String] = []
        for number in 0..<100 {
            let last = number == 99 && isPipelined ? "Connection: close\r\n" : ""
            client.write("POST /\(number) HTTP/1.1\r\nHost: h\r\n\(last)Content-Length: 4\r\n\r\nabcd")
            expected.append("POST /\(number)")
            if !isPipelined { #expect(client.readAnswer()?.body == "POST /\(number)") }
        }
        guard isPipelined else { return }
        let bodies = client.readAll().text.components(separatedBy: "HTTP/1.1 200 OK").dropFirst()
            .compactMap { $0.components(separatedBy: "\r\n\r\n").last }
        #expect(bodies == expected)
    }

    @Test func `thousands of calls wait at once, and each gets its own answer`() throws {
        let server = try EchoServer(answer: Self.later)
        let count = 3_000
        let clients = try (0..<count).map { _ in try #require(server.client()) }
        for round in 0..<2 {
            for (number, client) in clients.enumerated() {
                client.write("GET /\(round)/\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
            }
            for (number, client) in clients.enumerated() {
                #expect(client.readAnswer()?.body == "GET /\(round)/\(number)")
            }
        }
        #expect(server.server.counts.requests == 2 * count && server.server.counts.openCalls == 0)
        #expect(server.server.counts.openConnections == count)
    }

    /// The library takes 128 events from the kernel at a time.
    @Test(arguments: [126, 127, 128, 129, 256])
    func `whatever number of requests comes at once, each is answered at once`(count: Int) throws {
        let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = try EchoServer { call, responder in
            if call.target == Array("/wait".utf8) {
                entered.signal()
                leave.wait()
            }
            responder.answer(EchoServer.echo(call))
        }
        let clients = try (0..<count).map { _ in try #require(server.client()) }
        for client in clients { #expect(client.get("/first")?.body == "GET /first") }
        let waiting = try #require(server.client())
        waiting.write("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        entered.wait()
        for client in clients { client.write("GET /next HTTP/1.1\r\nHost: h\r\n\r\n") }
        leave.signal()
        for client in clients { try #require(client.readAnswer()?.body == "GET /next") }
    }

    @Test func `the first answer counts, and one that never comes is 500`() throws {
        let (server, client) = try EchoServer.pair { call, responder in
            guard call.target == Array("/two".utf8) else { return }
            responder.answer(HTTPReply(status: 201))
            responder.answer(HTTPReply(status: 202))
        }
        #expect(client.get("/two")?.status == "201")
        let answer = client.get("/none")
        #expect(answer?.status == "500" && answer?.body.contains("INTERNAL") == true)
        #expect(server.server.counts.openCalls == 0)
    }

    @Test func `two threads answer the same call, and it is answered once`() throws {
        let (server, client) = try EchoServer.pair { _, responder in
            for status in [201, 202] {
                DispatchQueue.global().async { responder.answer(HTTPReply(status: status, body: [0x61])) }
            }
        }
        for _ in 0..<500 {
            let answer = try #require(client.get())
            #expect(answer.status.hasPrefix("20") && answer.body == "a")
        }
        #expect(server.server.counts.openCalls == 0)
    }

    @Test func `clients that leave while they wait harm no others`() throws {
        let server = try EchoServer(answer: Self.later)
        for number in 0..<200 {
            let client = try #require(server.client())
            client.write("GET /\(number) HTTP/1.1\r\nHost: h\r\n\r\n")
        }
        #expect(server.isAlive)
        #expect(server.comes { server.server.counts.openConnections <= 1 && server.server.counts.requests == 201 })
        #expect(server.server.counts.openCalls == 0)
    }

    @Test func `a port in use, and an address that is none, are faults with a sentence`() throws {
        let server = try EchoServer()
        let busy = #expect(throws: HTTPFault.self) {
            _ = try HTTPCallServer(address: "127.0.0.1", port: server.port, limits: .init()) { _, _ in }
        }
        #expect(busy?.description == "nothing can listen on 127.0.0.1, port \(server.port): Address already in use")
        let wrong = #expect(throws: HTTPFault.self) {
            _ = try HTTPCallServer(address: "no.where", port: 0, limits: .init()) { _, _ in }
        }
        #expect(wrong?.description == "no.where is not an IP address")
    }

    @Test func `a client of IPv4 has four bytes at a server of both kinds`() throws {
        let server = try HTTPCallServer(address: "::", port: 0, limits: .init()) { call, responder in
            responder.answer(HTTPReply(status: 200, body: call.peer.bytes))
        }
        let client = try #require(RawClient(server.port))
        #expect(client.get()?.body == "\u{7f}\0\0\u{1}")
    }
}
