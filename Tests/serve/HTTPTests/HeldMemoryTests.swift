import Foundation
import HTTP
import TestKit
import Testing

@Suite("Bodies that are being read hold what has come, within a bound", .serialized, .waiting)
struct HeldMemoryTests {
    private static func head(_ length: Int) -> String {
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(length)\r\n\r\n"
    }

    private static func limits(readBytes: Int) -> HTTPCallLimits {
        var limits = HTTPCallLimits()
        // Longer than the tests take.
        (limits.readBytes, limits.requestSeconds) = (readBytes, 600)
        return limits
    }

    @Test func `nothing is held for bytes that were announced and have not come`() throws {
        let server = try EchoServer(Self.limits(readBytes: 64 << 20))
        let clients = try (0..<200).map { _ in try #require(server.client()) }
        for client in clients {
            client.write(Self.head(65_000))
            client.write([UInt8](repeating: 0x61, count: 10))
        }
        #expect(server.comes { server.server.counts.readBytes == 2_000 }, "\(server.server.counts)")
        for client in clients { client.write([UInt8](repeating: 0x61, count: 64_990)) }
        for client in clients { #expect(client.readAnswer()?.status == "200") }
        #expect(server.comes { server.server.counts.readBytes == 0 })
    }

    @Test func `what was held is given back when clients leave`() throws {
        let server = try EchoServer(Self.limits(readBytes: 64 << 20))
        let clients = try (0..<20).map { _ in try #require(server.client()) }
        for client in clients { client.write(Self.head(100) + "abc") }
        #expect(server.comes { server.server.counts.readBytes == 60 }, "\(server.server.counts)")
        for client in clients { client.finishWriting() }
        #expect(server.comes { server.server.counts.openConnections == 0 && server.server.counts.readBytes == 0 })
    }

    @Test func `beyond the bound those that were read for the longest get 503, and who sends at once is served`() throws
    {
        let server = try EchoServer(Self.limits(readBytes: 1 << 20))
        let bytes = [UInt8](repeating: 0x61, count: 60_000)
        var slow: [RawClient] = []
        for number in 0..<100 {
            let client = try #require(server.client())
            client.write(Self.head(65_000))
            client.write(bytes)
            slow.append(client)
            // In this order.
            let opened = number + 1
            #expect(server.comes { server.server.counts.connections >= opened })
            if number % 10 == 9 { #expect(server.isAlive) }
        }
        #expect(server.comes { server.server.counts.refused[.memory, default: 0] >= 100 - (1 << 20) / bytes.count - 1 })
        #expect(server.comes { server.server.counts.readBytes <= 1 << 20 }, "\(server.server.counts)")
        let whole = try #require(server.client())
        whole.write(Self.head(65_000))
        whole.write([UInt8](repeating: 0x61, count: 65_000))
        #expect(whole.readAnswer()?.status == "200")
        let answer = slow[0].readAll()
        #expect(
            answer.isClosed && answer.text.hasPrefix("HTTP/1.1 503 ") && answer.text.contains("\r\nRetry-After: 1\r\n")
        )
        #expect(answer.text.contains("\r\nConnection: close\r\n"))
    }

    @Test func `a request larger than the bound is refused alone`() throws {
        let (server, client) = try EchoServer.pair(Self.limits(readBytes: 10_000))
        client.write(Self.head(65_000))
        client.write([UInt8](repeating: 0x61, count: 30_000))
        #expect(client.readAnswer()?.status == "503")
        #expect(server.isAlive && server.server.counts.refused == [.memory: 1])
    }
}
