internal import Crypto
package import HTTP
internal import Kafka
package import KafkaPorts
package import Settings
internal import Threads

/// The facts that the metrics of a program show beside its state.
package protocol StateFacts: Sendable {
    /// The consequence, for the log, while no broker is connected.
    static var comfort: String { get }
    init()
    /// The port of metrics and health, and the setting of worker.json that names it.
    static func port(in configuration: Configuration) -> (number: Int, setting: String)
    /// Writes the program's own families.
    func write(to text: inout Exposition)
}

/// The metrics and health of a running program whose state is one word: a gateway, or a refresher of receipts. Fed by the
/// thread that runs it, asked by the server's thread.
package final class StateMonitor<Facts: StateFacts>: Sendable {
    private struct Known {
        var facts = Facts()
        var state = WorkerState.starting
        var reason: String?
        var isReloaded = true
        var reloadedAt = WallClock.milliseconds()
        var brokers = BrokerReporter(comfort: Facts.comfort)
        /// The time at which the program's thread last showed life.
        var life = ContinuousClock.now
    }

    private let known = Locked(Known())
    private let version: String
    private let processStart = ProcessFigures.startTimeOfProcess()

    package init(version: String) { self.version = version }

    package func note(_ state: WorkerState, _ reason: String? = nil) {
        known.withLock { ($0.state, $0.reason, $0.life) = (state, reason, .now) }
    }

    package func note(reloaded: Bool) {
        known.withLock { known in
            known.isReloaded = reloaded
            if reloaded { known.reloadedAt = WallClock.milliseconds() }
        }
    }

    package func update(_ change: (inout Facts) -> Void) {
        known.withLock { known in
            change(&known.facts)
            known.life = .now
        }
    }

    /// Looks at the connections to the brokers, at most once a second; of one thread alone.
    ///
    /// - Parameter now: milliseconds of a clock that never goes back.
    package func poll(_ connections: (statistics: [UInt8], fault: KafkaFault?), at now: Int64) -> [LogEvent] {
        // Outside of the lock: a scrape does not wait for the reading of statistics.
        var brokers = known.withLock { $0.brokers }
        let events = brokers.poll(connections, at: now)
        known.withLock { [brokers] in $0.brokers = brokers }
        return events
    }

    func write(_ format: Exposition.Format) -> [UInt8] {
        let known = known.withLock { $0 }
        var text = Exposition(format)
        let versions = [version, LibraryVersion.text, CryptoVersion.openSSL, ""]
        text.write(versions: versions, isReloaded: known.isReloaded, reloadedAt: known.reloadedAt)
        text.write(known.state)
        text.write(known.brokers.figures)
        text.write(ProcessFigures.now(start: processStart))
        known.facts.write(to: &text)
        return text.finish()
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch request.path {
        case "/metrics":
            let format = AcceptHeader(request.accept).format
            return HTTPResponse(contentType: format.contentType, body: write(format))
        case "/healthz":
            let silence = silence
            return silence < Endpoints.mostSilence
                ? HTTPResponse(status: 200, text: "ok")
                : HTTPResponse(status: 503, text: "hung: no life for \(silence.components.seconds) s")
        case "/readyz":
            let known = known.withLock { $0 }
            return Readiness(state: known.state, reason: known.reason, troubles: known.brokers.troubles).page
        default: return .notFound
        }
    }
}

extension StateMonitor: ProgramMonitor {
    package var silence: Duration { known.withLock { .now - $0.life } }

    package var pages: HTTPServer.Handler { { self.answer($0) } }

    package func port(in configuration: Configuration) -> (number: Int, setting: String) {
        Facts.port(in: configuration)
    }
}
