internal import Kafka
internal import Settings

extension LogEvent {
    /// librdkafka's words for lines about connections, sessions and transactional ids, which a worker tells in its own.
    static let ofConnections: Set<String> = ["FAIL", "GETPID", "SESSTMOUT"]

    /// A line of librdkafka's.
    ///
    /// - Parameter quiet: words for lines that are for debugging only.
    init(_ line: ClientLog.Line, quiet: Set<String> = []) {
        let severity = quiet.contains(line.facility) ? 7 : line.severity
        let level: LogLevel =
            switch severity {
            case ...3: .error
            case 4: .warning
            case 5, 6: .info
            default: .debug
            }
        self.init(level, .clientLine, "librdkafka, \(line.client): \(line.text)")
        code = line.facility
    }
}
