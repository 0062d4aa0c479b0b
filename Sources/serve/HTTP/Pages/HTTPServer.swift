/// A server of pages: GET and HEAD without bodies, answered at once. Stops with this object.
package final class HTTPServer: Sendable {
    /// Called on the server's thread, one request at a time.
    package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

    private let server: HTTPCallServer

    package var port: UInt16 { server.port }

    package init(
        address: String,
        port: UInt16,
        limits: HTTPCallLimits = .pages,
        handler: @escaping Handler
    ) throws(HTTPFault) {
        server = try HTTPCallServer(address: address, port: port, limits: limits, refuse: \.page) {
            call,
            responder in
            responder.answer(HTTPReply(HTTPRequest(call).map(handler) ?? .notFound))
        }
    }
}

extension HTTPCallLimits {
    package static let pages: HTTPCallLimits = {
        var limits = HTTPCallLimits()
        (limits.connections, limits.connectionsPerAddress) = (120, 64)
        (limits.bodyBytes, limits.headerBytes) = (0, 16_384)
        (limits.requestSeconds, limits.idleSeconds) = (10, 10)
        return limits
    }()
}

extension HTTPRequest {
    /// - Returns: nil for a path with an escape that is malformed.
    init?(_ call: HTTPCall) {
        guard let path = PercentCoding.decode(call.target.prefix { $0 != UInt8(ascii: "?") }) else { return nil }
        let accept = call.values("accept").first
        self.init(
            path: String(decoding: path, as: UTF8.self),
            accept: accept.map { String(decoding: $0, as: UTF8.self) }
        )
    }
}

extension HTTPRefusalKind {
    /// The refusal in a server of pages.
    var page: HTTPReply {
        let (code, message) =
            switch self {
            case .method: (405, "only GET and HEAD are served")
            case .unexpectedBody, .lengthRequired: (413, "a request has no body here")
            default: (text.code, text.message)
            }
        var reply = HTTPReply(HTTPResponse(status: code, text: message))
        if self == .method { reply.headers.append((name: "Allow", value: "GET, HEAD")) }
        reply.closes = true
        return reply
    }
}

extension HTTPReply {
    /// A page: it says nothing about caches.
    fileprivate init(_ response: HTTPResponse) {
        self.init(
            status: response.status,
            headers: [(name: "Content-Type", value: response.contentType)],
            body: response.body
        )
        namesNoStore = false
    }
}
