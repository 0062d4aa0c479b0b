internal import CRdkafka
internal import Threads

/// The log lines of librdkafka itself, of all clients of the process: one place takes every line.
package enum ClientLog {
    package struct Line: Sendable {
        /// The severity as syslog numbers it: 0 to 7.
        package let severity: Int
        /// The library's name of the client, such as `rdkafka#producer-2`.
        package let client: String
        /// The library's word for the matter, such as `FAIL`.
        package let facility: String
        package let text: String

        package init(severity: Int, client: String, facility: String, text: String) {
            (self.severity, self.client, self.facility, self.text) = (severity, client, facility, text)
        }
    }

    private static let lasting = Locked<String?>(nil)
    /// Our last line about all clients, if it told a fault.
    package static var lastingFault: String? { lasting.withLock { $0 } }

    private static let sink = Locked<(@Sendable (Line) -> Void)?>(nil)
    private static var take: (@Sendable (Line) -> Void)? { sink.withLock { $0 } }

    /// Routes the lines to `take` from now on, on threads of the library. Without it they go to standard error as the
    /// library writes them.
    ///
    /// The first call of a process counts, later ones change nothing: clients may outlive their owners.
    package static func route(to take: @escaping @Sendable (Line) -> Void) { sink.withLock { $0 = $0 ?? take } }

    /// Logs a line of ours about all clients. Only the sink receives it.
    package static func tell(_ text: String, isFault: Bool) {
        lasting.withLock { $0 = isFault ? text : nil }
        take?(Line(severity: isFault ? 4 : 6, client: "", facility: "TOKEN", text: text))
    }

    /// Logs our own warning about a client that may no longer exist. Only the sink receives it.
    static func warn(client: String, facility: String, _ text: String) {
        take?(Line(severity: 4, client: client, facility: facility, text: text))
    }

    /// A line of a client's callback.
    ///
    /// - Parameter own: takes it instead of the process's sink.
    static func write(
        _ client: OpaquePointer,
        _ level: Int32,
        _ facility: UnsafePointer<CChar>,
        _ text: UnsafePointer<CChar>,
        to own: (@Sendable (Line) -> Void)?
    ) {
        guard let take = own ?? Self.take else { return unsafe rd_kafka_log_print(client, level, facility, text) }
        // The library's own texts, which live for as long as the call.
        let name = unsafe rd_kafka_name(client).map { unsafe String(cString: $0) } ?? ""
        let line = unsafe Line(
            severity: Int(level),
            client: name,
            facility: String(cString: facility),
            text: String(cString: text)
        )
        take(line)
    }
}
