/// The resources that clients of a server may use, however slow, broken or many they are.
package struct HTTPCallLimits: Sendable, Equatable {
    /// Open connections; more wait in the kernel's queue. Lowered to what the limit of open files leaves.
    package var connections = 16_384
    /// Open connections of one address; more are closed at once. 0: as many as there are.
    package var connectionsPerAddress = 0
    /// A longer body is refused with 413. 0: only GET and HEAD are served.
    package var bodyBytes = 65_536
    /// Request line and headers; longer ones are refused with 414 or 431. About the memory of a connection.
    package var headerBytes = 32_768
    /// The most bytes of all bodies that are being read. Beyond it those that have been read for the longest are
    /// refused with 503.
    package var readBytes = 64 << 20
    /// The time from the first byte of a request to its last; the same time again for a client to take its answer.
    package var requestSeconds = 10
    /// How long a connection may be silent after an answer.
    package var idleSeconds = 650

    package init() {}

    /// The size that a refused body may have to be read to its end first, so that its sender sees the answer.
    var drainedBytes: Int { 8 * bodyBytes }
}
