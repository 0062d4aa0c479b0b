internal import Kafka
internal import KafkaPorts
internal import Member
package import Pipeline
internal import Settings

/// Log lines of a running worker: the connection's changes, a line a minute, progress on a terminal.
package struct RunReporter {
    /// The pause between two lines of progress, in milliseconds.
    private static let progressPause: Int64 = 500
    /// The pause between two polls of the statistics.
    private static let pollPause: Int64 = 1_000

    private let log: EventLog
    private let monitor: WorkerMonitor
    private var brokers = BrokerReporter(comfort: "the work waits and nothing is lost")
    private var unstable = UnstableWatch()
    private var unread = UnreadWatch()
    private var heartbeat: Heartbeat
    private var lag: Int?
    private var polled: Int64
    private var shown: Int64

    package init(log: EventLog, monitor: WorkerMonitor) {
        (self.log, self.monitor) = (log, monitor)
        let now = Uptime.milliseconds() ?? 0
        heartbeat = Heartbeat(at: now)
        (polled, shown) = (now, now)
    }

    /// Why the worker has to end: the brokers refuse what it read at its start.
    package var lockout: String? { brokers.lockout }

    /// Reports what has changed. Call it a few times a second.
    package mutating func poll(_ tally: LoopTally) {
        let now = Uptime.milliseconds() ?? 0
        log.tick()
        if now - polled >= Self.pollPause {
            polled = now
            let snapshot = monitor.snapshot()
            lag = snapshot.totalLag
            let fault = snapshot.members.lazy.compactMap(\.connectionFault).first
            let refusals = snapshot.members.reduce(0) { $0 + $1.refusals }
            let tokens = ClientLog.lastingFault
            var events = brokers.poll(snapshot.brokers, fault, refusals: refusals, tokens: tokens, at: now)
            monitor.note(brokers: brokers.troubles)
            // What is known of their ends is as old as the connections.
            if !snapshot.brokers.isAway {
                events += unstable.poll(snapshot.ends, positions: snapshot.positions, at: now)
                // A loop that judges nothing reads nothing: its leaders are not to blame.
                let isPaused = snapshot.state == .paused
                events += unread.poll(isPaused ? [] : snapshot.members.flatMap(\.unread), at: now)
            }
            for event in events { log.log(event) }
        }
        if let event = heartbeat.beat(tally, lag: lag, at: now) { log.log(event) }
        guard log.style == .terminal, now - shown >= Self.progressPause else { return }
        shown = now
        let line = RunProgress.line(tally, rate: monitor.requestRates.tenSeconds, lag: lag)
        log.show(progress: Terminal.cut(line))
    }
}

extension WorkerMonitor {
    /// Notes the faults among a log's events, whether they are written or not.
    package func watch(_ log: EventLog) { log.observe { if $0.isFault { self.note(fault: $0.message) } } }
}

extension WorkerSnapshot {
    /// The ends of the partitions that are read.
    var ends: [Int32: PartitionEnds] {
        let read = partitions.filter { $0.hold == nil }.map(\.number)
        return brokers.ends.filter { read.contains($0.key) }
    }

    /// The lag of all partitions; nil = one of them is not known yet, or there is none.
    var totalLag: Int? {
        let lags = partitions.map { lag($0.number) }
        guard !lags.isEmpty, !lags.contains(nil) else { return nil }
        return lags.reduce(0) { $0 + Int($1 ?? 0) }
    }
}

/// The progress of `run` on a terminal's last line.
enum RunProgress {
    /// - Parameters:
    ///   - rate: requests per second over the last ten seconds.
    ///   - lag: records that are still to be read; nil = not known.
    static func line(_ tally: LoopTally, rate: Double, lag: Int?) -> String {
        var parts = ["\(tally.requests.counted("request"))", "\(Int(rate).grouped)/s"]
        if let lag { parts.append("lag \(lag.grouped)") }
        let others = [
            (tally.refusedTotal, "refused"), (tally.deferred, "deferred"), (tally.deadLettersTotal, "dead letters"),
        ]
        for (count, name) in others where count > 0 { parts.append("\(count.grouped) \(name)") }
        return "run: " + parts.joined(separator: ", ")
    }
}
