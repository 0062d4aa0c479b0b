import Foundation
import HTTP
import TestKit
import Testing

@Suite("Each request has one answer, whatever comes with it")
struct OneAnswerTests {
    private static let get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

    /// What a reader of HTTP may stumble over, wherever it stands.
    static let junk = [
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: x\r\n\r\n",
        "GET /a HTTP/1.1\r\nCookie: \"\r\nContent-Length: x\r\nHost: h\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "GET /a HTTP/9.9\r\n\r\n",
        "GET /a HTTP/1.1\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "a", count: 40_000))\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\n\(String(repeating: "X: a\r\n", count: 600))\r\n",
    ]

    private static func heads(_ text: String) -> Int { text.components(separatedBy: "HTTP/1.1 ").count - 1 }

    @Test(arguments: junk)
    func `alone it has one head, behind an answer a second one`(text: String) throws {
        let server = try EchoServer()
        #expect(Self.heads(server.ask(text)) == 1)
        #expect(Self.heads(server.ask(Self.get + text)) == 2)
        let client = try #require(server.client())
        #expect(client.get()?.body == "GET /a")
        client.write(text)
        #expect(Self.heads(client.readAll().text) == 1)
        #expect(server.calls.count == 2 && server.isAlive)
    }

    /// Whether in one piece or in two.
    @Test(arguments: junk)
    func `in pieces it has one head`(text: String) throws {
        let server = try EchoServer()
        let bytes = Array(text.utf8)
        for cut in [bytes.count / 2, bytes.count - 2] {
            let client = try #require(server.client())
            client.write(Array(bytes[..<cut]))
            #expect(server.isAlive)
            client.write(Array(bytes[cut...]))
            #expect(Self.heads(client.readAll().text) == 1)
        }
    }

    /// A server that did not refuse in its own words may end such connections without any.
    @Test(arguments: ["\r\n\r\n", "\0\0\0\0", "\u{16}\u{3}\u{1}\u{2}", "nonsense\r\n\r\n"])
    func `what is no request line has one head at most`(text: String) throws {
        let server = try EchoServer()
        #expect(Self.heads(server.ask(text)) <= 1)
        #expect((1...2).contains(Self.heads(server.ask(Self.get + text))))
    }

    @Test(arguments: junk)
    func `behind a refusal, and behind the last answer, it has none`(text: String) throws {
        let server = try EchoServer()
        #expect(Self.heads(server.ask("GET /a HTTP/1.1\r\n\r\n" + text)) <= 1)
        #expect(Self.heads(server.ask("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" + text)) <= 1)
        let refused = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n"
        #expect(Self.heads(server.ask(refused + text)) <= 1)
        let client = try #require(server.client())
        client.write(refused)
        #expect(client.readAnswer()?.status == "413")
        client.write(text)
        #expect(Self.heads(client.readAll().text) == 0)
    }

    @Test(arguments: junk)
    func `while a call waits it changes nothing, and its own head comes after that answer`(text: String) throws {
        let held = HeldResponders()
        let (server, client) = try EchoServer.pair { _, responder in held.add(responder) }
        client.write(Self.get)
        #expect(server.comes { held.count == 1 })
        client.write(text)
        held.answer()
        client.finishWriting()
        let answer = client.readAll()
        #expect(answer.text.hasPrefix("HTTP/1.1 200 ") && Self.heads(answer.text) == 2, "\(answer.text)")
    }

    /// Around what a connection's memory holds the library runs out of it at one place after another.
    @Test(arguments: ["GET", "HEAD", "POST"])
    func `a request that fills its connection's memory has one head, in whatever pieces it comes`(
        method: String
    ) throws {
        let server = try EchoServer()
        let start = "\(method) /a HTTP/1.1\r\nHost: h\r\nX: "
        for size in stride(from: 36_560, to: 36_880, by: 8) {
            let bytes = Array((start + String(repeating: "a", count: size - start.utf8.count - 4) + "\r\n\r\n").utf8)
            // Anywhere, and the same in each run.
            let cuts = (0..<size / 8 % 4).map { ($0 + 1) * size * 7_919 % (size - 1) + 1 }.sorted() + [size]
            let client = try #require(server.client())
            for (from, to) in zip([0] + cuts, cuts) { client.write(Array(bytes[from..<to])) }
            client.finishWriting()
            let answer = client.readAll()
            let isOne = Self.heads(answer.text) == 1 && answer.text.hasPrefix("HTTP/1.1 431 ")
            #expect(isOne, "\(size) bytes in pieces that end at \(cuts): \(answer.text)")
        }
        #expect(server.isAlive)
    }

    /// The room that a refusal's head needs is gone, whatever else is wrong.
    @Test(arguments: ["A : b", "Transfer-Encoding: chunked", "Host: i", "Expect: 200-ok", "Content-Length: x"])
    func `a request that fills its connection's memory has one head beside another fault`(line: String) throws {
        let server = try EchoServer()
        let start = "GET /a HTTP/1.1\r\nHost: h\r\n\(line)\r\nX: "
        for size in stride(from: 36_300, to: 36_880, by: 20) {
            let answer = server.ask(start + String(repeating: "a", count: size - start.utf8.count - 4) + "\r\n\r\n")
            let isRefused = answer.hasPrefix("HTTP/1.1 431 ") || answer.hasPrefix("HTTP/1.1 400 ")
            #expect(Self.heads(answer) == 1 && isRefused, "\(size) bytes: \(answer)")
        }
        #expect(server.isAlive)
    }

    static let refusals = [
        "Content-Length: x", "Content-Length: 99999999999999999999999", "Expect: 200-ok",
        "Transfer-Encoding: chunked", "A : b", "X: \(String(repeating: "a", count: 33_000))",
        "X: \(String(repeating: "a", count: 36_560))", "X: \(String(repeating: "a", count: 40_000))",
    ]

    @Test(arguments: refusals)
    func `the refusal of HEAD has no body, that of others has its length`(line: String) throws {
        let server = try EchoServer()
        for method in ["HEAD", "GET", "BREW"] {
            let answer = server.ask("\(method) /a HTTP/1.1\r\nHost: h\r\n\(line)\r\n\r\n")
            let halves = answer.components(separatedBy: "\r\n\r\n")
            let length = answer.firstMatch(of: #/Content-Length: ([0-9]+)/#).flatMap { Int($0.1) }
            #expect(halves.count == 2 && (length ?? 0) > 0, "\(answer)")
            #expect(halves.last?.utf8.count == (method == "HEAD" ? 0 : length), "\(answer)")
        }
    }

    @Test func `a query of many parameters is served`() throws {
        let server = try EchoServer()
        let query = String(repeating: "&a=b&", count: 3_000)
        let answer = server.ask("GET /a?\(query) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("GET /a?\(query)"))
        #expect(server.calls.count == 1 && server.comes { server.server.counts.openConnections == 0 })
    }

    /// While many requests come in pieces, each refusal goes to the one that it is for.
    @Test(arguments: 0..<4)
    func `among many unfinished requests each has its own answer`(turn: Int) throws {
        var limits = HTTPCallLimits()
        // Longer than the test takes.
        limits.requestSeconds = 600
        let server = try EchoServer(limits)
        let kinds = [("0", "200"), ("x", "400"), ("99999999999999999999999", "413")]
        var waiting = try (0..<99).map { number in
            let client = try #require(server.client())
            let line = "Content-Length: \(kinds[number % 3].0)"
            client.write("POST /\(number) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\(line)\r\n")
            return (client: client, status: kinds[number % 3].1)
        }
        #expect(server.comes { server.server.counts.openConnections == waiting.count })
        while !waiting.isEmpty {
            let one = waiting.remove(at: (turn * 31 + waiting.count * 17) % waiting.count)
            one.client.write("\r\n")
            let answer = one.client.readAll()
            #expect(Self.heads(answer.text) == 1 && answer.text.hasPrefix("HTTP/1.1 \(one.status) "), "\(answer.text)")
        }
        #expect(server.isAlive && server.calls.count == 34)
    }
}
