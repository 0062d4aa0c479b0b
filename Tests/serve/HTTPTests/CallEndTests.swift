import Foundation
import HTTP
import TestKit
import Testing

@Suite("A server ends without losing an answer")
struct CallEndTests {
    private static let request = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test func `draining answers end their connections, others go on`() throws {
        let (server, client) = try EchoServer.pair()
        #expect(client.get()?.head.contains("Connection: close") == false)
        server.server.beginDrain()
        #expect(server.isAlive)
        client.write(Self.request)
        let answer = client.readAll()
        #expect(answer.isClosed && answer.text.hasPrefix("HTTP/1.1 200 ") && answer.text.contains("Connection: close"))
    }

    @Test func `a closed port takes no client, and open calls get their answers`() throws {
        let held = HeldResponders()
        let (server, client) = try EchoServer.pair { _, responder in held.add(responder) }
        client.write(Self.request)
        #expect(server.comes { held.count == 1 })
        server.server.stopAccepting()
        server.server.stopAccepting()
        #expect(server.client() == nil)
        held.answer()
        #expect(client.readAnswer()?.status == "200")
        client.write(Self.request)
        #expect(server.comes { held.count == 1 })
        held.answer()
        #expect(client.readAnswer()?.status == "200")
    }

    @Test func `a stop answers open calls with 503, and later answers are nothing`() throws {
        let held = HeldResponders()
        let server = try EchoServer { _, responder in held.add(responder) }
        let clients = try (0..<500).map { _ in try #require(server.client()) }
        for client in clients { client.write(Self.request) }
        #expect(server.comes { server.server.counts.openCalls == clients.count })
        server.server.stop()
        #expect(server.server.counts.openCalls == 0)
        for client in clients {
            let answer = client.readAll()
            #expect(answer.isClosed && answer.text.hasPrefix("HTTP/1.1 503 ") && answer.text.contains("UNAVAILABLE"))
        }
        held.answer()
        server.server.stop()
        #expect(server.client() == nil)
    }

    @Test(arguments: [false, true])
    func `a server, also a page's, that ends amid what is no request ends in order`(isPage: Bool) throws {
        for _ in 0..<12 {
            let server = try EchoServer()
            var page: HTTPServer? = try HTTPServer(address: "127.0.0.1", port: 0) { _ in HTTPResponse(body: []) }
            let port = try isPage ? #require(page?.port) : server.port
            let clients = try (0..<(isPage ? 30 : 400)).map { _ in try #require(RawClient(port)) }
            for client in clients { client.write("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n") }
            if isPage { page = nil } else { server.server.stop() }
            withExtendedLifetime(clients) {}
        }
    }

    @Test(arguments: 0..<20)
    func `a stop amid answers and requests leaves no call without an answer`(round: Int) throws {
        var server: EchoServer? = try EchoServer { call, responder in
            DispatchQueue.global().async { responder.answer(EchoServer.echo(call)) }
        }
        let clients = try (0..<50).map { _ in try #require(server?.client()) }
        for client in clients { client.write(Self.request) }
        pause(microseconds: round * 300)
        server?.server.stop()
        server = nil
        for client in clients {
            let answer = client.readAll()
            let isWhole =
                answer.text.isEmpty || answer.text.hasPrefix("HTTP/1.1 200 ") || answer.text.hasPrefix("HTTP/1.1 503 ")
            #expect(answer.isClosed && isWhole, "\(answer.text)")
        }
    }

    @Test func `a stopped server's port is free, with connections open`() throws {
        var server: EchoServer? = try EchoServer()
        let port = try #require(server?.port)
        let idle = try #require(server?.client())
        server = nil
        #expect(idle.readAll() == ("", true))
        #expect(throws: Never.self) {
            _ = try HTTPCallServer(address: "127.0.0.1", port: port, limits: .init()) { _, _ in }
        }
    }
}
