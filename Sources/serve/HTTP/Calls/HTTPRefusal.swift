/// Why a request was refused before the handler saw it. The values are labels of metrics.
package enum HTTPRefusalKind: String, Sendable, CaseIterable {
    /// More or less than a method, a target and a version with single blanks between them; bytes before them.
    case requestLine = "request-line"
    /// Neither HTTP/1.1 nor HTTP/1.0.
    case version
    /// A header that is folded, ends with a bare line feed, or has bytes that no name or value has.
    case header
    /// None or several.
    case host
    /// Body lengths that another reader may understand differently.
    case framing
    /// Transfer-Encoding.
    case lengthRequired = "length-required"
    /// CONNECT, and OPTIONS of the server itself.
    case method
    /// No path from the root, nor a URL that has one.
    case target
    /// GET or HEAD with a body.
    case unexpectedBody = "unexpected-body"
    /// A compressed body.
    case contentEncoding = "content-encoding"
    case expectation
    case bodySize = "body-size"
    /// The bodies being read take too much memory, and this body has been read for the longest.
    case memory
    /// Request line and headers leave no room for an answer.
    case headerSize = "header-size"
    /// Requests that the library refuses by itself, such as too long headers.
    case unreadable
    case stopping

    /// Whether the end of the body is known beyond doubt, so that it may be read first.
    var isFramed: Bool {
        switch self {
        case .method, .target, .unexpectedBody, .contentEncoding, .expectation, .bodySize: true
        default: false
        }
    }

    /// The server's own answer to a request that no handler sees. The connection ends with it.
    package var reply: HTTPReply {
        let (code, status, message) = text
        var reply = HTTPReply.error(code, status, message)
        reply.closes = true
        if code == 405 { reply.headers.append((name: "Allow", value: "GET, HEAD, POST")) }
        if code == 503 { reply.headers.append((name: "Retry-After", value: "1")) }
        if code == 415 { reply.headers.append((name: "Accept-Encoding", value: "identity")) }
        return reply
    }

    var text: (code: Int, status: String, message: String) {
        switch self {
        case .requestLine: (400, "INVALID_ARGUMENT", "The request line is malformed.")
        case .version: (505, "UNIMPLEMENTED", "This version of HTTP is not served.")
        case .header: (400, "INVALID_ARGUMENT", "A header is malformed.")
        case .host: (400, "INVALID_ARGUMENT", "A request has one Host header.")
        case .framing: (400, "INVALID_ARGUMENT", "The length of the body is ambiguous.")
        case .lengthRequired: (411, "INVALID_ARGUMENT", "A body needs a Content-Length.")
        case .method: (405, "UNIMPLEMENTED", "Only GET, HEAD and POST are served.")
        case .target: (400, "INVALID_ARGUMENT", "The target is not a path.")
        case .unexpectedBody: (400, "INVALID_ARGUMENT", "This method takes no body.")
        case .contentEncoding: (415, "INVALID_ARGUMENT", "A body is taken as it is, without a coding.")
        case .expectation: (417, "INVALID_ARGUMENT", "Only 100-continue may be expected.")
        case .bodySize: (413, "INVALID_ARGUMENT", "The body is too large.")
        case .memory: (503, "UNAVAILABLE", "Too many requests are being read.")
        case .headerSize: (431, "INVALID_ARGUMENT", "The headers are too large.")
        case .unreadable: (400, "INVALID_ARGUMENT", "The request is malformed.")
        case .stopping: (503, "UNAVAILABLE", "The server stops.")
        }
    }
}

extension HTTPReply {
    /// The server's own error, in the shape of Google's (google.rpc.Status); the texts need no escape.
    static func error(_ code: Int, _ status: String, _ message: String) -> HTTPReply {
        let body = "{\"error\":{\"code\":\(code),\"message\":\"\(message)\",\"status\":\"\(status)\"}}"
        let type = (name: "Content-Type", value: "application/json; charset=UTF-8")
        return HTTPReply(status: code, headers: [type], body: Array(body.utf8))
    }
}
