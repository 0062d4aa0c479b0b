package import Gateway
package import HTTP
internal import Kafka
internal import Pipeline
package import Settings
internal import Threads

/// The metrics and health of a running gateway. Fed by the thread that runs the command, asked by the server's thread.
package final class GatewayMonitor: Sendable {
    private struct Known {
        var state = WorkerState.starting
        var reason: String?
        var isReloaded = true
        var reloadedAt = WallClock.milliseconds()
        var gateway: Gateway?
        var server: HTTPCallServer?
        var brokers = BrokerReporter.ofGateway
        /// The time at which the command's thread last showed life.
        var life = ContinuousClock.now
    }

    private let known = Locked(Known())
    private let version: String
    private let processStart = ProcessFigures.startTimeOfProcess()

    /// - Parameter version: the program's.
    package init(version: String) { self.version = version }

    package func note(_ state: WorkerState, _ reason: String? = nil) {
        known.withLock { ($0.state, $0.reason, $0.life) = (state, reason, .now) }
    }

    package func note(_ brokers: BrokerReporter) { known.withLock { $0.brokers = brokers } }

    package func note(_ gateway: Gateway, _ server: HTTPCallServer) {
        known.withLock { ($0.gateway, $0.server) = (gateway, server) }
    }

    package func note(reloaded: Bool) {
        known.withLock { known in
            known.isReloaded = reloaded
            if reloaded { known.reloadedAt = WallClock.milliseconds() }
        }
    }

    /// How long the command's thread has shown no life.
    package var silence: Duration { known.withLock { .now - $0.life } }

    var snapshot: GatewaySnapshot {
        let known = known.withLock { $0 }
        return GatewaySnapshot(
            version: version,
            state: known.state,
            reason: known.reason,
            isReloaded: known.isReloaded,
            reloadedAt: known.reloadedAt,
            counts: known.gateway?.counts,
            connections: known.server?.counts,
            brokers: known.brokers,
            process: ProcessFigures.now(start: processStart)
        )
    }
}

extension GatewayMonitor: ProgramMonitor {
    package var pages: HTTPServer.Handler {
        StatePages(
            silence: { self.silence },
            readiness: {
                let snapshot = self.snapshot
                let troubles = snapshot.brokers.troubles
                return Readiness(state: snapshot.state, reason: snapshot.reason, troubles: troubles)
            },
            metrics: { GatewayMetricsPage.write(self.snapshot, $0) }
        ).answer
    }

    package func port(in configuration: Configuration) -> (number: Int, setting: String) {
        (configuration.gateway.metricsPort ?? configuration.metricsPort, "gateway.metrics.port")
    }
}

/// All that a scrape of a gateway shows, as of one moment.
struct GatewaySnapshot {
    /// The program's.
    var version: String
    var state: WorkerState
    var reason: String?
    var isReloaded: Bool
    /// Milliseconds since 1970.
    var reloadedAt: Int64
    /// nil before the gateway serves.
    var counts: GatewayCounts?
    var connections: HTTPCallCounts?
    var brokers = BrokerReporter.ofGateway
    var process: ProcessFigures
}
