/// A run's faults and findings.
package struct ChaosReport: Sendable {
    package var settings: ChaosSettings
    /// In the requests topic, without the last few that only close it.
    package var requests = 0
    package var closing = 0
    /// Never acknowledged to the fake devices.
    package var uncertain = 0
    package var outcomes = 0
    package var faults: [ChaosFault: Int] = [:]
    /// Of each kind of deed, the longest silence of a partition.
    package var silences = ChaosSilences()
    /// Why the reader saw nothing more; nil = it saw all.
    package var watchFault: String?
    /// Workers that were killed inside a transaction, and those of whom that was wanted and who were outside.
    package var killsInTransaction = 0
    package var killsMissing = 0
    /// Clocks that were set, in their order.
    package var clockJumps: [ClockJump] = []
    /// Requests that were refused for their time while a clock was wrong, by reason.
    package var refusedByClock: [String: Int] = [:]
    /// Frames that the network held, by key.
    package var late: [LateFrames] = []
    package var findings = ChaosFindings()
    /// From the end of the last fault until every request was answered; nil when that did not happen.
    package var drainSeconds: Double?
    /// The same from the last request on.
    package var secondsAfterLastRequest: Double?
    /// Processes that ended by themselves, or wrongly, with what they said last.
    package var ends: [String] = []
    /// The same of gateways, which nothing may end: workers may be fenced.
    package var gatewayEnds: [String] = []
    /// An operator's mistakes at which no worker stopped.
    package var unheeded: [String] = []
    package var longestEndingSeconds = 0.0
    /// Records of aborted transactions and marks of transactions, in the output topics.
    package var unseen = 0
    package var producerRenewals = 0
    package var producerFault: String?
    package var seconds = 0.0
    /// Requests of the exchange by method and judgement.
    package var exchange: [String: Int] = [:]
    /// Of stock clients; nil where there were none.
    package var clients: ChaosClientReport?
    /// The ledger topic's content, in words.
    package var ledger = ""

    /// Nothing lost, nothing doubled and so on, and drained in time.
    package var passed: Bool {
        findings.isClean && unheeded.isEmpty && producerFault == nil && gatewayEnds.isEmpty
            && (drainSeconds ?? .infinity) <= settings.drainSeconds
    }

    package var lines: [String] {
        let counts = ChaosFault.allCases.compactMap { kind in faults[kind].map { "\($0) × \(kind.rawValue)" } }
        var lines = [
            "seed \(settings.seed), \(settings.brokers) broker(s), \(settings.workers) workers, \(settings.delivery)",
            "\(faults.values.reduce(0, +)) faults: " + counts.joined(separator: ", "),
            "\(requests) requests and \(closing) that close, \(outcomes) outcomes; \(unseen) aborted records and marks kept from readers",
        ]
        lines += late.map(\.description)
        if killsInTransaction + killsMissing > 0 {
            lines.append("workers killed inside a transaction: \(killsInTransaction), outside: \(killsMissing)")
        }
        lines += clockJumps.map(\.description)
        let refused = refusedByClock.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
        if !clockJumps.isEmpty {
            lines.append(
                "refused for their time while a clock was wrong: \(refused.isEmpty ? "none" : refused.joined(separator: ", "))"
            )
        }
        if uncertain > 0 { lines.append("\(uncertain) requests were not acknowledged to the fake devices") }
        lines += findings.lines
        lines += exchange.sorted { $0.key < $1.key }.map { "  \($0.value) × \($0.key)" }
        if let clients { lines.append(clients.line) }
        lines.append("ledger topic: \(ledger)")
        let drained = drainSeconds.map { "\($0.tenths) s after the last fault" } ?? "NOT in time"
        let after = secondsAfterLastRequest.map { ", \($0.tenths) s after the last request" } ?? ""
        lines.append("drained \(drained)\(after); the limit is \(settings.drainSeconds.tenths) s")
        lines += silences.lines
        if let watchFault { lines.append("silences are incomplete: \(watchFault)") }
        lines.append("longest end after SIGTERM \(longestEndingSeconds.tenths) s")
        if producerRenewals > 0 { lines.append("the fake devices' producer was renewed \(producerRenewals) times") }
        if let producerFault { lines.append("the fake devices' producer failed: \(producerFault)") }
        let ends = ends + gatewayEnds
        lines.append("processes that ended by themselves or wrongly: \(ends.count)")
        lines += ends.map { "  \($0)" }
        lines += unheeded.map { "no worker stopped at an operator's mistake: \($0)" }
        lines.append("\(passed ? "PASSED" : "FAILED") in \(seconds.tenths) s")
        return lines
    }

    mutating func note(_ evidence: ChaosEvidence) {
        exchange = evidence.exchangeCounts
        guard let topic = evidence.topic else { return }
        let overdue = topic.overdue(at: evidence.streamTimes)
        ledger =
            "\(topic.records) records read; compacted \(topic.size): \(topic.keys) keys, \(topic.consumed.count) used "
            + "challenges and tokens (\(overdue) of them overdue), \(topic.others) others; \(topic.tombstones) tombstones"
    }
}
