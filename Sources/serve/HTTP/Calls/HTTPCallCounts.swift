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
    /// The server stops.
    case stopping
}

/// The events since the server's start, and what is open now.
package struct HTTPCallCounts: Sendable, Equatable {
    package var connections = 0
    /// Requests that the handler saw.
    package var requests = 0
    package var refused: [HTTPRefusalKind: Int] = [:]
    /// Connections closed since a request or the taking of an answer took too long.
    package var timedOut = 0
    /// Idle connections closed to make room.
    package var evicted = 0
    /// Clients that had closed their side before their answer was sent.
    package var gone = 0
    package var openConnections = 0
    /// The bytes of bodies that are being read.
    package var readBytes = 0
    /// Calls without an answer yet.
    package var openCalls = 0
}
