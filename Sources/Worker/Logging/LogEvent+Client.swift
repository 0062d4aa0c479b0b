internal import Kafka
internal import Settings

extension LogEvent {
    /// A line of librdkafka's.
    init(_ line: ClientLog.Line) {
        let level: LogLevel =
            switch line.severity {
            case ...3: .error
            case 4: .warning
            case 5, 6: .info
            default: .debug
            }
        self.init(level, .clientLine, "librdkafka, \(line.client): \(line.text)")
        code = line.facility
    }
}
