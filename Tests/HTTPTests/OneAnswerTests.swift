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
    func `Alone it has one head, behind an answer a second one`(text: String) throws {
        let server = try EchoServer()
        #expect(Self.heads(server.ask(text)) == 1)
        #expect(Self.heads(server.ask(Self.get + text)) == 2)
        let client = try #require(server.client())
        client.write(Self.get)
        #expect(client.readAnswer()?.body == "GET /a")
        client.write(text)
        #expect(Self.heads(client.readAll().text) == 1)
        #expect(server.calls.count == 2 && server.isAlive)
    }

    /// Whether in one piece or in two.
    @Test(arguments: junk)
    func `In pieces it has one head`(text: String) throws {
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
    func `What is no request line has one head at most`(text: String) throws {
        let server = try EchoServer()
        #expect(Self.heads(server.ask(text)) <= 1)
        #expect((1...2).contains(Self.heads(server.ask(Self.get + text))))
    }

    @Test(arguments: junk)
    func `Behind a refusal, and behind the last answer, it has none`(text: String) throws {
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
    func `While a call waits it changes nothing, and its own head comes after that answer`(text: String) throws {
        let held = HeldResponders()
        let server = try EchoServer { _, responder in held.add(responder) }
        let client = try #require(server.client())
        client.write(Self.get)
        #expect(server.comes { server.server.counts.openCalls == 1 })
        client.write(text)
        held.answer()
        client.finishWriting()
        let answer = client.readAll()
        #expect(answer.text.hasPrefix("HTTP/1.1 200 ") && Self.heads(answer.text) == 2, "\(answer.text)")
    }
}
