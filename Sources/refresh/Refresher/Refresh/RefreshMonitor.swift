internal import AppAttest
internal import HTTP
internal import Pipeline
internal import Risk
internal import Settings
internal import Telemetry
internal import Threads

/// The metrics and health of a running refresher. Fed by its loop, asked by the server's thread.
package final class RefreshMonitor: Sendable {
    /// Milliseconds of a call to Apple.
    static let durationBounds = Histogram([50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 30_000])

    private struct Known {
        var snapshot: RefreshSnapshot
        /// The time at which the loop last showed life.
        var life = ContinuousClock.now
    }

    private let known: Locked<Known>
    private let processStart = ProcessFigures.startTimeOfProcess()

    /// - Parameter version: the program's.
    package init(version: String) { known = Locked(Known(snapshot: RefreshSnapshot(version: version))) }

    func note(_ state: WorkerState, _ reason: String? = nil) {
        known.withLock { ($0.snapshot.state, $0.snapshot.reason, $0.life) = (state, reason, .now) }
    }

    func note(_ brokers: BrokerReporter) { known.withLock { $0.snapshot.brokers = brokers } }

    func note(_ figures: RefreshFigures) { known.withLock { ($0.snapshot.figures, $0.life) = (figures, .now) } }

    /// - Parameter milliseconds: of a call that has ended.
    func note(duration milliseconds: Int64, _ environment: Environment) {
        known.withLock { $0.snapshot.durations[environment, default: Self.durationBounds].add(milliseconds) }
    }

    func note(reloaded: Bool) {
        known.withLock { known in
            known.snapshot.isReloaded = reloaded
            if reloaded { known.snapshot.reloadedAt = WallClock.milliseconds() }
        }
    }

    /// How long the loop has shown no life.
    var silence: Duration { known.withLock { .now - $0.life } }

    var snapshot: RefreshSnapshot {
        var snapshot = known.withLock { $0.snapshot }
        snapshot.process = ProcessFigures.now(start: processStart)
        return snapshot
    }
}

extension RefreshMonitor: ProgramMonitor {
    var pages: HTTPServer.Handler {
        StatePages(
            silence: { self.silence },
            readiness: {
                let snapshot = self.snapshot
                let troubles = snapshot.brokers.troubles
                return Readiness(state: snapshot.state, reason: snapshot.reason, troubles: troubles)
            },
            metrics: { RefreshMetricsPage.write(self.snapshot, $0) }
        ).answer
    }

    func port(in configuration: Configuration) -> (number: Int, setting: String) {
        (configuration.metricsPort, "metrics")
    }
}

/// All that a scrape of a refresher shows, as of one moment.
struct RefreshSnapshot {
    /// The program's.
    let version: String
    var state = WorkerState.starting
    var reason: String?
    var isReloaded = true
    /// Milliseconds since 1970.
    var reloadedAt = WallClock.milliseconds()
    var figures = RefreshFigures()
    var brokers = BrokerReporter.ofRefresher
    var durations: [Environment: Histogram] = [:]
    var process: ProcessFigures?
}
