/// A server of pages: GET and HEAD without bodies, answered at once. Stops with this object.
package final class HTTPServer: Sendable {
    /// Called on the server's thread, one request at a time.
    package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

    private let server: HTTPCallServer

    /// The address that clients connect to.
    package var port: UInt16 { server.port }

    /// - Parameters:
    ///   - address: an IPv4 or IPv6 address in digits.
    ///   - port: 0 = any free one.
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
        guard let path = Self.decode(call.target.prefix { $0 != UInt8(ascii: "?") }) else { return nil }
        self.init(path: path, accept: call.values("accept").first.map { String(decoding: $0, as: UTF8.self) })
    }

    private static func decode(_ text: ArraySlice<UInt8>) -> String? {
        var (rest, bytes) = (text, [UInt8]())
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
            guard digits.count == 2 else { return nil }
            bytes.append(UInt8(digits[0] << 4 | digits[1]))
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPRefusal {
    /// The refusal in a server of pages.
    var page: HTTPReply {
        let response: HTTPResponse =
            switch kind {
            case .method: .methodNotAllowed
            case .unexpectedBody, .lengthRequired: .bodyRefused
            default: HTTPResponse(status: text.code, text: text.message)
            }
        var reply = HTTPReply(response)
        if kind == .method { reply.headers.append((name: "Allow", value: "GET, HEAD")) }
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
