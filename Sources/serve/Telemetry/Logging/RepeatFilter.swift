/// Lines that come again and again: each is written once in five minutes, and then with how often it came. None is
/// dropped for good.
struct RepeatFilter {
    /// The window in milliseconds.
    static let window: Int64 = 300_000
    /// Different lines that are remembered.
    static let most = 64

    private struct Line {
        let pattern: String
        /// The newest of them.
        var event: LogEvent
        /// The time at which it was last written.
        var since: Int64
        var repeats = 0
    }

    /// The oldest first.
    private var lines: [Line] = []

    /// The lines to be written now because of an event.
    ///
    /// - Parameter now: milliseconds of a clock that never goes back.
    mutating func take(_ event: LogEvent, at now: Int64) -> [LogEvent] {
        let due = due(at: now)
        guard event.isRepeatable else { return due + [event] }
        let pattern = event.pattern
        if let index = lines.firstIndex(where: { $0.pattern == pattern }) {
            lines[index].repeats += 1
            lines[index].event = event
            return due
        }
        var written = due
        if lines.count == Self.most { written += Self.account(lines.removeFirst(), at: now) }
        lines.append(Line(pattern: pattern, event: event, since: now))
        return written + [event]
    }

    /// The accounts of lines whose five minutes are over.
    mutating func due(at now: Int64) -> [LogEvent] {
        guard let oldest = lines.first, now - oldest.since >= Self.window else { return [] }
        var written: [LogEvent] = []
        while let line = lines.first, now - line.since >= Self.window {
            lines.removeFirst()
            written += Self.account(line, at: now)
            // Still coming: the next one is counted, too.
            if line.repeats > 0 { lines.append(Line(pattern: line.pattern, event: line.event, since: now)) }
        }
        return written
    }

    /// The accounts of all lines; nothing is remembered any more.
    mutating func flush(at now: Int64) -> [LogEvent] {
        defer { lines = [] }
        return lines.flatMap { Self.account($0, at: now) }
    }

    private static func account(_ line: Line, at now: Int64) -> [LogEvent] {
        guard line.repeats > 0 else { return [] }
        var event = line.event
        let seconds = max(1, (now - line.since + 999) / 1000)
        let time = seconds >= 120 ? "\((seconds + 59) / 60) min" : "\(seconds) s"
        event.message += " (repeated \(line.repeats == 1 ? "once" : "\(line.repeats) times") in \(time))"
        event.counts.append(LogEvent.Count("repeated", line.repeats))
        return [event]
    }
}
