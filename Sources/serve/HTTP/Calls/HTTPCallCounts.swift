/// The events since the server's start, and what is open now.
package struct HTTPCallCounts: Sendable, Equatable {
    package var connections = 0
    /// Requests that the handler saw.
    package var requests = 0
    package var refused: [HTTPRefusalKind: Int] = [:]
    /// Connections closed since a request or the taking of an answer took too long.
    package var timedOut = 0
    package var openConnections = 0
    /// The bytes of bodies that are being read.
    package var readBytes = 0
    /// Calls without an answer yet.
    package var openCalls = 0
}
