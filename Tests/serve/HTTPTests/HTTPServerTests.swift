import Foundation
import HTTP
import TestKit
import Testing

@Suite("The server answers, and no client holds it up", .serialized, .waiting)
struct HTTPServerTests {
    private static func server(_ limits: HTTPCallLimits = .pages) throws -> HTTPServer {
        try HTTPServer(address: "127.0.0.1", port: 0, limits: limits) { request in
            guard request.path == "/here" else { return .notFound }
            return HTTPResponse(contentType: "text/x", body: Array("accept: \(request.accept ?? "-")".utf8))
        }
    }

    private static func ask(_ server: HTTPServer, _ head: String) -> String {
        guard let client = RawClient(server.port), client.write(head + "\r\nHost: h\r\nConnection: close\r\n\r\n")
        else {
            return ""
        }
        return client.readAll().text
    }

    @Test(arguments: [
        ("GET /here HTTP/1.1\r\nAccept: a/b;q=0.5", "200 OK", "accept: a/b;q=0.5"),
        ("GET /here?query=1 HTTP/1.0", "200 OK", "accept: -"),
        ("GET /there HTTP/1.1", "404 Not Found", "not found\n"),
        ("GET /%68ere HTTP/1.1", "200 OK", "accept: -"),
        ("POST /here HTTP/1.1", "405 Method Not Allowed", "only GET and HEAD are served\n"),
        ("DELETE /here HTTP/1.1", "405 Method Not Allowed", "only GET and HEAD are served\n"),
        ("POST /here HTTP/1.1\r\nContent-Length: 3", "405 Method Not Allowed", "only GET and HEAD are served\n"),
        ("POST /here HTTP/1.1\r\nTransfer-Encoding: chunked", "405 ", "only GET and HEAD are served\n"),
        ("GET /he%2 HTTP/1.1", "404 Not Found", "not found\n"),
        ("GET http://h/here?a HTTP/1.1", "200 OK", "accept: -"),
        ("GET /here HTTP/1.1\r\nX:\u{1}", "400 Bad Request", "A header is malformed.\n"),
        ("OPTIONS * HTTP/1.1", "405 Method Not Allowed", "only GET and HEAD are served\n"),
        ("GET /here HTTP/1.1\r\nContent-Length: 3", "413 ", "a request has no body here\n"),
        ("GET /here HTTP/1.1\r\nTransfer-Encoding: chunked", "413 ", "a request has no body here\n"),
    ])
    func `a request gets its answer`(head: String, status: String, body: String) throws {
        let answer = Self.ask(try Self.server(), head)
        #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)")
        #expect(answer.hasSuffix("\r\n\r\n\(body)"), "\(answer)")
        #expect(answer.contains("Allow: GET, HEAD\r\n") == status.hasPrefix("405"))
        #expect(!answer.contains("Cache-Control"), "\(answer)")
    }

    @Test(arguments: [("HTTP/1.0", "200 OK"), ("HTTP/1.1", "400 Bad Request")])
    func `only a request of HTTP 1.0 may name no host`(version: String, status: String) throws {
        let server = try Self.server()
        let client = try #require(RawClient(server.port))
        #expect(client.write("GET /here \(version)\r\nConnection: close\r\n\r\n"))
        #expect(client.readAll().text.hasPrefix("HTTP/1.1 \(status)\r\n"))
        withExtendedLifetime(server) {}
    }

    @Test func `HEAD gets the headers of GET and no body`() throws {
        let answer = Self.ask(try Self.server(), "HEAD /here HTTP/1.1")
        #expect(answer.contains("Content-Length: 9\r\n") && answer.contains("Content-Type: text/x\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test func `one connection serves many requests`() throws {
        let server = try Self.server()
        let client = try #require(RawClient(server.port))
        for number in 0..<100 {
            let last = number == 99 ? "Connection: close\r\n" : ""
            #expect(client.write("GET /here HTTP/1.1\r\nHost: h\r\n\(last)\r\n"))
        }
        #expect(client.readAll().text.ranges(of: "HTTP/1.1 200 OK").count == 100)
    }

    @Test(arguments: [
        "GET", "\u{0}\u{1}\u{2}\r\n\r\n", "GET /here\r\n\r\n", "GET /here HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n",
        "GET /here HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "GET /%zz%00 HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /here HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "GET /here HTTP/1.1\r\n: :\r\n\u{FF}\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
    func `after broken bytes the server still answers`(bytes: String) throws {
        let server = try Self.server()
        for _ in 0..<20 {
            let client = try #require(RawClient(server.port))
            _ = client.write(bytes)
        }
        #expect(Self.ask(server, "GET /here HTTP/1.1").contains("200 OK"))
    }

    @Test func `headers without end are refused`() throws {
        let server = try Self.server()
        let client = try #require(RawClient(server.port))
        #expect(client.write("GET /here HTTP/1.1\r\nHost: h\r\n"))
        let (line, most) = ("X-Pad: \(String(repeating: "a", count: 8_000))\r\n", 100_000)
        var written = 0
        // A server that kept them would take a gigabyte.
        while written < most, client.write(line) { written += 1 }
        #expect(written < most)
        #expect(Self.ask(server, "GET /here HTTP/1.1").contains("200 OK"))
    }

    @Test func `silent connections are closed after the time-out`() throws {
        var limits = HTTPCallLimits.pages
        limits.requestSeconds = 1
        let server = try Self.server(limits)
        let client = try #require(RawClient(server.port))
        #expect(client.write("GET /here HTTP/1.1\r\nHost:"))
        // Reading ends with the server's close.
        #expect(client.readAll().isClosed)
        #expect(eventually({ client.write("x") }, until: { !$0 }))
    }

    @Test func `more connections of one address than allowed are closed, and then it is served again`() throws {
        var limits = HTTPCallLimits.pages
        (limits.connections, limits.connectionsPerAddress, limits.requestSeconds) = (16, 8, 1)
        let server = try Self.server(limits)
        do {
            var open: [Int32] = []
            defer { for descriptor in open { close(descriptor) } }
            for _ in 0..<1_000 {
                let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = server.port.bigEndian
                address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
                // The same bytes under the name that the call takes; nothing waits for the server.
                _ = unsafe withUnsafePointer(to: &address) { pointer in
                    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
                        return unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                open.append(descriptor)
            }
        }
        #expect(eventually({ Self.ask(server, "GET /here HTTP/1.1") }, until: { $0.contains("200 OK") }))
    }

    @Test func `a port in use, and an address that is none, are faults with a sentence`() throws {
        let server = try Self.server()
        let busy = #expect(throws: HTTPFault.self) {
            _ = try HTTPServer(address: "127.0.0.1", port: server.port) { _ in .notFound }
        }
        #expect(busy?.description == "nothing can listen on 127.0.0.1, port \(server.port): Address already in use")
        let wrong = #expect(throws: HTTPFault.self) {
            _ = try HTTPServer(address: "no.where", port: 0) { _ in .notFound }
        }
        #expect(wrong?.description == "no.where is not an IP address")
    }

    @Test func `a stopped server's port is free`() throws {
        let port = try Self.server().port
        #expect(throws: Never.self) { _ = try HTTPServer(address: "127.0.0.1", port: port) { _ in .notFound } }
    }
}
