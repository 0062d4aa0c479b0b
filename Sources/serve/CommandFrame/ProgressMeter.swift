internal import Settings
internal import Telemetry

/// The progress of a long command: a bar on a terminal, a plain line every few seconds elsewhere.
package struct ProgressMeter {
    /// Time since the command began.
    package typealias Stopwatch = () -> Duration

    private let console: Console
    private let label: String
    private let unit: String
    private let state: String
    private let total: Int?
    private let elapsed: Stopwatch
    private var lastShown: Duration = .zero
    private var drawn = false

    /// - Parameters:
    ///   - label: the activity, e.g. the command's name.
    ///   - unit: the counted things, in the singular.
    ///   - state: what was done with them, where it is not plain, e.g. `acknowledged`.
    ///   - total: nil where the end is not known.
    package init(
        _ label: String,
        unit: String,
        state: String = "",
        total: Int?,
        console: Console,
        elapsed: @escaping Stopwatch = Self.stopwatch()
    ) {
        self.console = console
        self.label = label
        (self.unit, self.state) = (unit, state.isEmpty ? "" : " " + state)
        self.total = total
        self.elapsed = elapsed
    }

    /// A stopwatch that starts now.
    package static func stopwatch() -> Stopwatch {
        let start = ContinuousClock.now
        return { ContinuousClock.now - start }
    }

    /// Does work that counts what is done; the bar is cleared at its end.
    package static func during<Result>(
        _ label: String,
        unit: String,
        state: String = "",
        total: Int? = nil,
        console: Console,
        _ work: (_ done: (Int) -> Void) throws -> Result
    ) rethrows -> Result {
        var meter = ProgressMeter(label, unit: unit, state: state, total: total, console: console)
        defer { meter.finish() }
        return try work { meter.update($0) }
    }

    /// Cheap to call often: shows something ten times a second on a terminal, every five seconds elsewhere.
    ///
    /// - Parameter share: the share of the work that is done, 0 to 1, if known other than by counting.
    package mutating func update(_ done: Int, share: Double? = nil) {
        let now = elapsed()
        guard now - lastShown >= (console.isTerminal ? .milliseconds(100) : .seconds(5)) else { return }
        lastShown = now
        let line = text(done, share, now)
        guard console.isTerminal else { return console.printError(line) }
        drawn = true
        console.draw("\r" + Terminal.cut(line) + "\u{1B}[K")
    }

    /// Clears the bar; elsewhere there is nothing to clear, the command prints its own last line.
    package mutating func finish() {
        guard drawn else { return }
        drawn = false
        console.draw("\r\u{1B}[K")
    }

    private func text(_ done: Int, _ known: Double?, _ now: Duration) -> String {
        let seconds = now / .seconds(1)
        let rate = seconds > 0 ? Int(Double(done) / seconds) : 0
        let counted = total.flatMap { $0 > 0 ? Double(done) / Double($0) : nil }
        guard let share = (known ?? counted).map({ min(1, $0) }) else {
            return "\(label): \(done.counted(unit))\(state), \(rate.grouped)/s"
        }
        let things = total.map { "\(done.grouped) of \($0.counted(unit))" } ?? done.counted(unit)
        let counts = "\(Int(share * 100)) %, \(things)\(state), \(rate.grouped)/s"
        guard console.isTerminal else { return "\(label): \(counts)" }
        let filled = Int(share * 24)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 24 - filled)
        return "\(label) [\(bar)] \(counts)"
    }
}
