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
        let client = RawClient(server.port)
        client?.write(head + "\r\nHost: h\r\nConnection: close\r\n\r\n")
        return client?.readAll().text ?? ""
    }

    @Test(arguments: [
        ("GET /here HTTP/1.1\r\nAccept: a/b;q=0.5", "200 OK", "accept: a/b;q=0.5"),
        ("GET /here?query=1 HTTP/1.0", "200 OK", "accept: -"),
        ("GET /there HTTP/1.1", "404 Not Found", "not found\n"),
        ("GET /%68ere HTTP/1.1", "200 OK", "accept: -"), ("HEAD /here HTTP/1.1", "200 OK", ""),
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

    @Test func `more connections of one address than allowed are closed, and then it is served again`() throws {
        var limits = HTTPCallLimits.pages
        (limits.connections, limits.connectionsPerAddress, limits.requestSeconds) = (16, 8, 1)
        let server = try Self.server(limits)
        withExtendedLifetime((0..<1_000).map { _ in RawClient(server.port) }) {}
        #expect(eventually({ Self.ask(server, "GET /here HTTP/1.1") }, until: { $0.contains("200 OK") }))
    }
}
