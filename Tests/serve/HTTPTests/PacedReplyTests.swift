import Foundation
import HTTP
import TestKit
import Testing

@Suite("An answer's body leaves at its pace")
struct PacedReplyTests {
    private static let body = [UInt8]((0..<10_000).map { UInt8(ascii: "a") + UInt8($0 % 26) })

    private static func pair(_ pace: HTTPPace, seconds: Int = 60) throws -> (server: EchoServer, client: RawClient) {
        var limits = HTTPCallLimits()
        limits.requestSeconds = seconds
        return try EchoServer.pair(limits) { call, responder in
            guard call.target == Array("/paced".utf8) else { return responder.answer(EchoServer.echo(call)) }
            var reply = HTTPReply(status: 200, body: body)
            reply.pace = pace
            responder.answer(reply)
        }
    }

    private static let request = "GET /paced HTTP/1.1\r\nHost: h\r\n\r\n"

    @Test(arguments: [0, 1, 4_096, 9_999])
    func `a body that is cut is announced whole, and its connection ends`(count: Int) throws {
        let (server, client) = try Self.pair(.cut(after: count))
        client.write(Self.request)
        let answer = client.readAll()
        #expect(answer.isClosed && answer.text.contains("Content-Length: 10000\r\n"))
        let body = answer.text.components(separatedBy: "\r\n\r\n").last ?? ""
        #expect(Array(body.utf8) == Array(Self.body[..<count]))
        #expect(server.isAlive)
    }

    @Test(arguments: [4_000, 9_999, 10_000, 20_000])
    func `a body that drips is whole in the end, and its connection goes on`(count: Int) throws {
        let (server, client) = try Self.pair(.dripping(bytes: count))
        for _ in 0..<2 {
            let answer = try #require(client.get("/paced"))
            #expect(answer.status == "200" && Array(answer.body.utf8) == Self.body)
        }
        #expect(server.isAlive)
    }

    @Test func `a body that drips arrives in parts, and others are served meanwhile`() throws {
        let (server, client) = try Self.pair(.dripping(bytes: 500))
        client.write(Self.request)
        let first = try #require(client.readSome())
        #expect(!first.isEmpty && first.count < Self.body.count && server.isAlive)
        #expect(client.readSome()?.isEmpty == false)
    }

    @Test func `a body that takes too long is cut as a slow client's is`() throws {
        let (server, client) = try Self.pair(.dripping(bytes: 1), seconds: 1)
        client.write(Self.request)
        let answer = client.readAll()
        #expect(answer.isClosed && answer.text.utf8.count < 1_000)
        #expect(server.comes { server.server.counts.timedOut == 1 })
    }

    @Test func `a client that leaves while its answer drips harms nobody`() throws {
        let server = try Self.pair(.dripping(bytes: 10)).server
        for _ in 0..<20 {
            let client = try #require(server.client())
            client.write(Self.request)
            #expect(client.readSome()?.isEmpty == false)
        }
        #expect(server.isAlive)
        #expect(server.comes { server.server.counts.openConnections <= 1 })
    }

    @Test func `a server stops while answers drip`() throws {
        let server = try Self.pair(.dripping(bytes: 10)).server
        let clients = (0..<20).compactMap { _ in server.client() }
        for client in clients {
            client.write(Self.request)
            #expect(client.readSome()?.isEmpty == false)
        }
        server.server.stop()
        #expect(clients.count == 20 && clients.allSatisfy { $0.readAll().isClosed })
    }
}
