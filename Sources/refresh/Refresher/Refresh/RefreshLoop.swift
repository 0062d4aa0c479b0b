package import AppAttest
package import Gateway
internal import Kafka
package import KafkaPorts
package import Risk
internal import Settings
internal import Streams
package import Telemetry
internal import Threads

/// A refresher's loop: one thread owns the driver, serves the groups, begins calls and writes requests.
package final class RefreshLoop {
    /// The longest pause, so that the groups are served.
    private static let mostPause: Int64 = 20
    private static let commitPause: Int64 = 2_000
    /// A clock that was set back by more makes the times of calls meaningless.
    private static let mostBack: Int64 = 2_000
    private static let finalSlices = 20

    private var owner = Owner("RefreshLoop")
    private var driver: RefreshDriver
    private let groups: [LineGroup]
    private let caller: any CallPort
    private let outlet: any RequestOutlet
    private let topic: String
    private let inbox: RefreshInbox
    private let monitor: RefreshMonitor
    private let say: (LogEvent) -> Void
    private var time = EvaluationTime(milliseconds: 0)
    /// When each call began, by a clock that never goes back; by number.
    private var begun: [UInt: (environment: Environment, at: Int64)] = [:]
    private var committedAt: Int64?

    /// - Parameters:
    ///   - topic: the requests'.
    ///   - inbox: where the outlet's reports come as well.
    package init(
        _ driver: RefreshDriver,
        groups: [LineGroup],
        caller: any CallPort,
        outlet: any RequestOutlet,
        topic: String,
        inbox: RefreshInbox,
        monitor: RefreshMonitor,
        say: @escaping (LogEvent) -> Void
    ) {
        (self.driver, self.groups, self.caller, self.outlet) = (driver, groups, caller, outlet)
        (self.topic, self.inbox) = (topic, inbox)
        (self.monitor, self.say) = (monitor, say)
    }

    /// Why the refresher is not ready; nil = it is.
    var unfitness: String? {
        if let unfitness = groups.lazy.compactMap(\.unfitness).first { return unfitness }
        let figures = driver.figures(at: time)
        guard !figures.isClockRight, let offset = figures.clockOffset else { return nil }
        return "this machine's clock is \(offset / Milliseconds.second) s off from Apple's: nothing is called for"
    }

    /// Calls and requests that have not ended.
    package var openCount: Int { driver.openCount }

    /// Calls that have brought a verified receipt.
    var verifiedCount: Int {
        driver.counts.calls.reduce(0) { $1.key.outcome == "verified" ? $0 + $1.value : $0 }
    }

    package func reload(_ rules: RefreshRules) {
        owner.check()
        driver.reload(rules, at: time)
    }

    /// Serves the groups once, takes what has come, and begins the calls that are due.
    ///
    /// - Parameters:
    ///   - wall: the time of day.
    ///   - now: milliseconds of a clock that never goes back.
    ///   - isStopping: begins no call any more.
    /// - Returns: for how many milliseconds nothing is to be done, unless something comes.
    package func pass(at wall: EvaluationTime, now: Int64, isStopping: Bool = false) throws -> Int64 {
        owner.check()
        guard time.since(wall) <= Self.mostBack else {
            throw CommandFault("this machine's clock was set back by \(time.since(wall) / 1_000) s: start again.")
        }
        time = max(time, wall)
        for group in groups { try group.poll(&driver, at: time) }
        for message in inbox.take() { take(message, now: now) }
        let pause = isStopping ? Self.mostPause : callAll(now: now)
        if now - (committedAt ?? .min / 2) >= Self.commitPause {
            committedAt = now
            for group in groups { group.commit(&driver) }
        }
        for notice in driver.takeNotices() { say(LogEvent(notice)) }
        let figures = driver.figures(at: time)
        monitor.update { $0.figures = figures }
        return pause
    }

    private func callAll(now: Int64) -> Int64 {
        while true {
            switch driver.next(at: time) {
            case .call(let call): begin(call, now: now)
            case .wait(let until): return min(Self.mostPause, max(1, until?.since(time) ?? Self.mostPause))
            }
        }
    }

    private func begin(_ call: ReceiptCall, now: Int64) {
        begun[call.number] = (call.environment, now)
        caller.begin(call) { [inbox] in inbox.put(.ended(call.number, $0)) }
    }

    private func take(_ message: RefreshInbox.Message, now: Int64) {
        switch message {
        case .ended(let number, let reply):
            guard let call = begun.removeValue(forKey: number) else { return }
            monitor.update { $0.add(duration: now - call.at, call.environment) }
            if let request = driver.end(number, reply, at: time) { write(request) }
        case .reports(let reports):
            for report in reports {
                driver.acknowledge(report.ticket, isWritten: report.outcome == .written, at: time)
            }
        }
    }

    private func write(_ request: VerifyRequest) {
        outlet.write(
            OutboundRequest(
                topic: topic,
                partition: request.partition,
                key: request.key,
                value: request.value,
                headers: [RecordHeader(name: Array("request-id".utf8), value: request.requestID)],
                ticket: request.number
            )
        )
    }

    /// Commits for the last time and leaves the groups. Nothing is called any more.
    package func close() {
        owner.check()
        caller.stop()
        for group in groups { group.commitLast(&driver, slices: Self.finalSlices) }
        for group in groups { group.close() }
    }
}

extension LineGroup {
    /// The groups of all lines, which begin to join.
    ///
    /// - Parameter makeConsumer: of a line's group: now, and where one has to be replaced.
    package static func all(
        partitions: Int32,
        say: @escaping (LogEvent) -> Void,
        makeConsumer: @escaping (ReceiptLine) throws(KafkaFault) -> any GroupConsumer
    ) throws(KafkaFault) -> [LineGroup] {
        try ReceiptLine.allCases.map { line throws(KafkaFault) in
            let group = try LineGroup(line, partitions: partitions, say: say) { () throws(KafkaFault) in
                try makeConsumer(line)
            }
            try group.start()
            return group
        }
    }
}
