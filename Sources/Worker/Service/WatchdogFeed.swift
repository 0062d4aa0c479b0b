internal import Dispatch

/// Tells the service manager that the worker lives, as long as its threads show life; on a separate queue.
final class WatchdogFeed {
    /// A late message or two must not end the process.
    private static let perPeriod = 3

    private let timer: any DispatchSourceTimer

    /// - Parameters:
    ///   - silence: how long the quietest thread has shown no life.
    ///   - most: with this much silence the manager hears nothing more, and ends the process.
    /// - Returns: nil where the manager watches nothing.
    init?(_ manager: ServiceManager, silence: @escaping @Sendable () -> Duration, most: Duration) {
        guard let period = manager.watchdog else { return nil }
        let (seconds, attoseconds) = period.components
        let pause = max(1_000_000, Int(seconds * 1_000_000_000 + attoseconds / 1_000_000_000) / Self.perPeriod)
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "watchdog"))
        timer.schedule(deadline: .now(), repeating: .nanoseconds(pause))
        timer.setEventHandler { if silence() < most { manager.say(.alive) } }
        timer.activate()
    }

    deinit { timer.cancel() }
}
