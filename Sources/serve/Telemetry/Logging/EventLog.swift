internal import Dispatch
internal import Glibc
internal import Pipeline
package import Settings
internal import Synchronization
internal import Threads

/// A worker's log: one line an event, on standard error, from any thread.
///
/// A thread of its own writes: no loop waits for a reader of standard error that has stopped reading.
package final class EventLog: Sendable {
    /// Lines that may wait for the reader; more are counted and dropped.
    static let most = 10_000

    private struct State {
        var filter = RepeatFilter()
        var instance = ""
        /// Whether the terminal's last line shows progress: a log line replaces it.
        var hasProgress = false
        /// Lines that found no room.
        var dropped = 0
        var observer: (@Sendable (LogEvent) -> Void)?
    }

    private let level: LogLevel
    package let style: LogLine.Style
    private let wallClock: @Sendable () -> Int64
    private let uptime: @Sendable () -> Int64
    private let write: @Sendable ([UInt8]) -> Void
    private let isInForeground: @Sendable () -> Bool
    private let state = Locked(State())
    private let queue = DispatchQueue(owner: "log")
    private let waiting = Atomic<Int>(0)

    /// - Parameters:
    ///   - isInForeground: whether the terminal's last line may show progress.
    ///   - wallClock: milliseconds since 1970.
    ///   - uptime: milliseconds of a clock that never goes back.
    ///   - write: takes a whole line.
    package init(
        _ settings: LogSettings,
        _ style: LogLine.Style,
        isInForeground: @escaping @Sendable () -> Bool = { true },
        wallClock: @escaping @Sendable () -> Int64 = WallClock.milliseconds,
        uptime: @escaping @Sendable () -> Int64 = { Uptime.milliseconds() ?? 0 },
        write: @escaping @Sendable ([UInt8]) -> Void = { try? Descriptor.write($0, to: STDERR_FILENO) }
    ) {
        level = settings.level
        (self.style, self.wallClock, self.uptime, self.write) = (style, wallClock, uptime, write)
        self.isInForeground = isInForeground
    }

    /// The process's own, in the form that the settings and standard error ask for.
    package static func standard(_ settings: LogSettings, isTerminal: Bool) -> EventLog {
        let journal = Variables.value("JOURNAL_STREAM")
        let style = LogLine.Style(settings.format, isTerminal: isTerminal, journal: journal)
        return EventLog(settings, style, isInForeground: { Terminal.isOurs })
    }

    /// Names the instance in every later line of the JSON form.
    package func name(instance: String) { state.withLock { $0.instance = instance } }

    /// Shows every later event to `body` too, whatever the level and however often it is repeated.
    package func observe(_ body: @escaping @Sendable (LogEvent) -> Void) { state.withLock { $0.observer = body } }

    package func log(_ event: LogEvent) {
        state.withLock { $0.observer }?(event)
        guard event.level >= level else { return }
        // The last line is the last: the accounts of repeated ones come before it.
        emit { (event.name == .stopped ? $0.flush(at: $1) : []) + $0.take(event, at: $1) }
    }

    package func log(_ level: LogLevel, _ name: LogEvent.Name, _ message: String) {
        log(LogEvent(level, name, message))
    }

    /// Writes the accounts of repeated lines that are due; to be called now and then.
    package func tick() { emit { $0.due(at: $1) } }

    /// Writes the accounts of all repeated lines, and waits until everything is written, for a second at most.
    package func finish() {
        emit { $0.flush(at: $1) }
        state.withLock { clear(&$0) }
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        _ = done.wait(timeout: .now() + .seconds(1))
    }

    /// Shows progress on a terminal's last line; nowhere else, and not in the background, where that line is the shell's.
    func show(progress: String) {
        guard style == .terminal, isInForeground() else { return }
        state.withLock { state in
            state.hasProgress = true
            put(Array("\r\(progress)\u{1B}[K".utf8), &state)
        }
    }

    private func emit(_ body: (inout RepeatFilter, _ now: Int64) -> [LogEvent]) {
        let (now, time) = (uptime(), wallClock())
        // Handed on under the lock: the order of lines is that of the filter's.
        state.withLock { state in
            var events = body(&state.filter, now)
            guard !events.isEmpty else { return }
            clear(&state)
            if state.dropped > 0, waiting.load(ordering: .relaxed) < Self.most {
                let message = "\(state.dropped.counted("line", "is", "are")) missing here: standard error took none"
                events.insert(LogEvent(.warning, .linesDropped, message), at: 0)
                state.dropped = 0
            }
            for event in events { put(LogLine.bytes(event, at: time, instance: state.instance, style), &state) }
        }
    }

    private func put(_ bytes: [UInt8], _ state: inout State) {
        guard waiting.load(ordering: .relaxed) < Self.most else {
            state.dropped += 1
            return
        }
        waiting.add(1, ordering: .relaxed)
        queue.async {
            self.write(bytes)
            self.waiting.subtract(1, ordering: .relaxed)
        }
    }

    private func clear(_ state: inout State) {
        guard state.hasProgress else { return }
        state.hasProgress = false
        put(Array("\r\u{1B}[K".utf8), &state)
    }
}
