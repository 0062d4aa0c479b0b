/// The settings of a running worker's log.
package struct LogSettings: Sendable, Equatable {
    package var format = LogFormat.text
    package var level = LogLevel.info

    package init() {}
}

/// The form of a line on standard error.
package enum LogFormat: String, Sendable, CaseIterable {
    case text, json
}

/// The gravity of an event, and the least one at which events are logged.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case debug, info, warning, error

    /// The level's number in syslog and journald.
    package var severity: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .warning: 4
        case .error: 3
        }
    }

    package static func < (one: LogLevel, other: LogLevel) -> Bool { one.severity > other.severity }
}
