import BrokerKit
import ChaosKit
import Foundation
import Pipeline
import Testing
internal import Threads

/// Short forms of what ChaosLab does for hours: several processes of the program, real brokers, fake devices, faults.
@Suite(
    .brokerTests,
    .chaosTurn,
    .serialized
)
struct ChaosRunTests {
    /// Runs it, and expects that every promise was kept and checked.
    private func run(_ settings: ChaosSettings) throws -> ChaosReport {
        let installation = try #require(KafkaInstallation.found)
        let lines = Locked<[String]>([])
        let report = try ChaosRun(installation, settings) { line in lines.withLock { $0.append(line) } }.run()
        if !report.passed { print(lines.withLock { $0.joined(separator: "\n") }) }
        // Figures, in the log of a run that passes too.
        print((report.silences.lines + report.clockJumps.map(\.description)).joined(separator: "\n"))
        #expect(report.passed && report.findings.unchecked.isEmpty, "\(report.lines.joined(separator: "\n"))")
        return report
    }

    @Test(arguments: [1, 3])
    func `under faults every request has one outcome, and no counter moves twice`(brokers: Int) throws {
        var settings = ChaosSettings()
        settings.brokers = brokers
        // Each kind of fault of workers and brokers.
        settings.faults = 12
        settings.requests = 6_000
        settings.secondsBetweenFaults = 3
        let report = try run(settings)
        // A load producer that a fault has broken loses what it held.
        let sent = (settings.requests - report.uncertain)...settings.requests
        #expect(sent.contains(report.requests), "\(report.lines.joined(separator: "\n"))")
        #expect(report.exchange.keys.contains { $0.hasSuffix("challenge-consumed") }, "\(report.exchange)")
    }

    /// Found out by the brokers, while the worker stands still.
    @Test(arguments: [false, true])
    func `workers that are killed inside a transaction lose and double nothing`(hasNetwork: Bool) throws {
        var settings = ChaosSettings()
        settings.hasNetwork = hasNetwork
        settings.kinds = [.killWorkerInTransaction]
        settings.faults = 4
        settings.requests = 4_000
        settings.secondsBetweenFaults = 3
        let report = try run(settings)
        #expect(report.killsInTransaction > 0, "\(report.lines.joined(separator: "\n"))")
        #expect(report.silences[ChaosFault.killWorkerInTransaction.rawValue]?.runs == settings.faults)
        #expect(report.watchFault == nil)
    }

    /// Restarts go on from copies, of whatever they are, and take-overs from ledgers that were followed.
    @Test func `whatever becomes of copies of ledgers, every request has one outcome, and no counter moves twice`()
        throws
    {
        var settings = ChaosSettings()
        settings.hasCopies = true
        settings.kinds = ChaosFault.allCases.filter(\.isDisks) + [.killWorker, .terminateWorker, .scaleDown, .scaleUp]
        settings.faults = 16
        settings.requests = 8_000
        settings.secondsBetweenFaults = 3
        _ = try run(settings)
    }

    /// A worker whose clock is too far off pauses and comes back; the topics keep every promise meanwhile.
    @Test(.enabled(if: ClockShim.compiler != nil, Comment(rawValue: ClockShim.whyMissing)))
    func `while clocks jump every request has one outcome, and no counter moves twice`() throws {
        var settings = ChaosSettings()
        (settings.brokers, settings.hasClocks) = (3, true)
        settings.kinds = ChaosFault.allCases.filter(\.isClocks) + [.killWorker, .killWorkerInTransaction]
        settings.faults = 12
        settings.requests = 8_000
        let report = try run(settings)
        #expect(report.clockJumps.contains { $0.doubtedAfter != nil && $0.wasUnready }, "\(report.clockJumps)")
        #expect(report.clockJumps.allSatisfy { $0.isOver && $0.answeredInDoubt ?? 0 == 0 }, "\(report.clockJumps)")
    }

    /// Requests that the library repeats inside a call, and others that come late, twice or not at all.
    @Test func `behind a bad network every request has one outcome, and no counter moves twice`() throws {
        var settings = ChaosSettings()
        (settings.brokers, settings.hasNetwork) = (3, true)
        settings.kinds = ChaosFault.allCases.filter(\.isNetworks)
        settings.faults = settings.kinds?.count ?? 0
        settings.secondsBetweenFaults = 1.5
        settings.requests = 6_000
        let report = try run(settings)
        // How many depends on how many transactions the machine gets through.
        #expect(report.late.contains { $0.held > 0 }, "\(report.late)")
    }

    /// Requests and ledger created again, quotas, and offsets of the group that are deleted and moved back; the runbook
    /// repairs them.
    @Test func `with a careless operator every request has one outcome, and no counter moves twice`() throws {
        var settings = ChaosSettings()
        settings.kinds = ChaosFault.allCases.filter(\.isOperators)
        settings.faults = settings.kinds?.count ?? 0
        settings.recreatesTopics = true
        settings.sessionMilliseconds = 3_000
        settings.requests = 3_000
        _ = try run(settings)
    }

    /// Gateways that are killed, paused, ended and cut off, beside workers that are.
    @Test func `every stock client ends with one key and its token, and gets no answer of another`() throws {
        var settings = ChaosSettings()
        (settings.gateways, settings.hasReplies) = (2, true)
        settings.kinds = ChaosFault.allCases.filter(\.isGateways) + [.killWorker, .pauseWorkerPastSession]
        settings.faults = settings.kinds?.count ?? 0
        settings.requests = 2_000
        let report = try run(settings)
        let clients = try #require(report.clients)
        #expect(clients.clients.count >= settings.gateways * settings.clients)
        #expect(clients.tokens > clients.clients.count * settings.wishes / 2, "\(clients.line)")
    }

    @Test func `a worker that delivers at least once is detected`() throws {
        var settings = ChaosSettings()
        settings.delivery = "at-least-once"
        // Outputs that a worker has sent arrive after its death; the mark that follows them was never sent.
        settings.kinds = [.killWorkerInPause]
        settings.faults = 4
        settings.secondsBetweenFaults = 0.5
        settings.sessionMilliseconds = 3_000
        settings.requests = 30_000
        // A backlog: the workers are always in a batch.
        settings.isPaced = false
        settings.faultShare = 0
        settings.exchangeShare = 0
        // Whether a pause hits a batch at its outputs is chance: a few tries make it certain enough.
        for seed in 1...8 as ClosedRange<UInt64> {
            settings.seed = seed
            let report = try ChaosRun(#require(KafkaInstallation.found), settings) { _ in }.run()
            #expect(report.findings[.lost] == 0)
            guard report.findings[.doubled] == 0 else {
                #expect(!report.passed)
                return
            }
        }
        Issue.record("nothing was doubled in eight runs")
    }
}
