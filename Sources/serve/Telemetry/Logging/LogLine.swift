internal import JSON
internal import Settings

/// The form of a log's lines.
package enum LogLine {
    package enum Style: Sendable, Equatable {
        /// Lines for people: the level only where something is wrong.
        case terminal
        /// Lines with time and level.
        case plain
        /// systemd reads the level off the front and adds the time itself.
        case journal
        case json

        /// - Parameter journal: the value of `JOURNAL_STREAM`, which systemd sets where the journal reads the stream.
        init(_ format: LogFormat, isTerminal: Bool, journal: String?) {
            if format == .json {
                self = .json
            } else if isTerminal {
                self = .terminal
            } else {
                self = journal == nil ? .plain : .journal
            }
        }
    }

    /// One line with its newline.
    ///
    /// - Parameter time: milliseconds since 1970.
    static func bytes(_ event: LogEvent, at time: Int64, instance: String, _ style: Style) -> [UInt8] {
        let message = event.message.oneLine
        switch style {
        case .json: return json(event, message, time, instance)
        case .terminal: return Array((prefix(event.level) + message + "\n").utf8)
        case .journal: return Array("<\(event.level.severity)>\(message)\n".utf8)
        case .plain:
            return Array("\(TimeText.rfc3339(time)) \(event.level.rawValue) \(event.name.rawValue): \(message)\n".utf8)
        }
    }

    private static func prefix(_ level: LogLevel) -> String { level > .info ? "\(level.rawValue): " : "" }

    private static func json(_ event: LogEvent, _ message: String, _ time: Int64, _ instance: String) -> [UInt8] {
        var json = JSONWriter(capacity: 256)
        json.beginObject()
        json.member("time", TimeText.rfc3339(time))
        json.member("level", event.level.rawValue)
        json.member("event", event.name.rawValue)
        json.member("message", message)
        json.member("instance", instance)
        if let partition = event.partition { json.member("partition", partition) }
        if let offset = event.offset { json.member("offset", offset) }
        if let code = event.code {
            json.key("error")
            json.beginObject()
            json.member("code", code)
            json.endObject()
        }
        for count in event.counts {
            json.key(named: count.name)
            json.value(count.value)
        }
        json.endObject()
        json.newline()
        return json.takeBytes()
    }
}
