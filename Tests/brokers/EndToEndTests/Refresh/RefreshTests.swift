import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Testing

/// Workers, a refresher and Apple's double as processes on a real broker.
@Suite(
    "refresh-receipts on a real broker",
    .brokerTests,
    .cluster(),
    .serialized
)
struct RefreshTests {
    static func site(_ prefix: String, _ settings: RefreshSite.Settings = .init()) throws -> RefreshSite {
        try RefreshSite(prefix, servers: #require(RealClusterTrait.cluster).bootstrapServers, settings)
    }

    /// Waits until the worker has judged all there is, and the lines have nothing to exchange.
    static func settles(_ site: RefreshSite, _ processes: [ProgramProcess]) throws -> Bool {
        let watch = site.workplace.drainWatch()
        return Deadline.wait(60) {
            guard processes.allSatisfy(\.isRunning) else { return true }
            // In this order: receipts come with a request's commit, and a line commits an exchange after its request.
            guard (try? watch.isDrained()) == true, watch.committed > 0, (try? site.unreadLines()) == [] else {
                return false
            }
            return (try? watch.isDrained()) == true
        }
    }

    static func end(_ process: ProgramProcess) {
        process.signal(SIGTERM)
        #expect(process.waitForEnd(seconds: 60) == .exit(0), "\(process.error)")
    }

    @Test func `metrics come to keys, results, events and receipts; a restart calls for nothing again`() throws {
        let site = try Self.site("refreshed")
        try site.createTopics()
        let traffic = try RefreshTraffic(site)
        let (worker, apple) = (try site.worker("one"), try site.apple())
        var refresher = try site.refresher("r1")
        try traffic.attest(9)
        try traffic.flush()
        #expect(try Self.settles(site, [worker, apple, refresher]), "\(refresher.error)")
        try traffic.assert(0..<9)
        try traffic.flush()
        #expect(try Self.settles(site, [worker, apple, refresher]), "\(refresher.error)")
        Self.end(refresher)
        #expect(refresher.error.contains("receipts exchanged"), "\(refresher.error)")
        let before = site.relay.calls
        #expect(before.count >= 9 && before.allSatisfy { $0.answeredReceipt != nil })

        refresher = try site.refresher("r1")
        #expect(refresher.says("line late reads"), "\(refresher.error)")
        try traffic.attest()
        try traffic.flush()
        #expect(Deadline.wait(60) { site.relay.callCount > before.count }, "\(refresher.error)")
        #expect(try Self.settles(site, [worker, apple, refresher]), "\(refresher.error)")
        #expect(!refresher.error.contains("has no committed offsets"), "\(refresher.error)")
        for process in [refresher, worker, apple] { Self.end(process) }
        let later = Set(site.relay.calls.dropFirst(before.count).map(\.receipt))
        #expect(later.count == 1 && before.allSatisfy { !later.contains($0.receipt) })

        let evidence = try RefreshEvidence(site)
        #expect(RefreshAudit.findings(evidence) == [])
        #expect(evidence.exchanges >= 10 && evidence.calls.count == evidence.exchanges)
        #expect(evidence.ledger.count == 10 && evidence.events.count == 10)
        let metrics = (0..<10).map { evidence.ledger[traffic.keyID($0)]??.value ?? 0 }
        let (shared, own) = ((0..<10).filter { $0 % 3 == 0 }, (0..<10).filter { $0 % 3 != 0 })
        #expect(own.allSatisfy { metrics[$0] == 1 }, "\(metrics)")
        // Four keys on one device; the last one was attested after the others' calls.
        #expect(metrics[9] == 4 && shared.allSatisfy { (1...4).contains(metrics[$0]) }, "\(metrics)")
        let shown = evidence.steps.values.flatMap { $0 }.count { $0.request == .assertion && $0.shown != nil }
        #expect(shown == 9)
        let secrets = RefreshSecrets(key: site.key, calls: evidence.calls)
        #expect(try secrets.found(inStreamsOf: site.workplace.folder) == [])
    }

    @Test func `a key whose metric is above the app's limit is refused, others are not`() throws {
        var settings = RefreshSite.Settings()
        settings.risk = #", "above": 2"#
        settings.mode = "refuse"
        let site = try Self.site("refusing", settings)
        try site.createTopics()
        let traffic = try RefreshTraffic(site, sharing: 1)
        let (worker, apple, refresher) = (try site.worker("one"), try site.apple(), try site.refresher("r1"))
        // One after the other: each sees a key more.
        for _ in 0..<4 {
            let calls = site.relay.callCount
            try traffic.attest()
            try traffic.flush()
            #expect(Deadline.wait(60) { site.relay.callCount > calls }, "\(refresher.error)")
            #expect(try Self.settles(site, [worker, apple, refresher]), "\(refresher.error)")
        }
        try traffic.assert(0..<4)
        try traffic.flush()
        #expect(try Self.settles(site, [worker, apple, refresher]))
        for process in [refresher, worker, apple] { Self.end(process) }
        let evidence = try RefreshEvidence(site)
        let reasons = (0..<4).map { number in
            evidence.steps[traffic.keyID(number)]?.last { $0.request == .assertion }?.reason
        }
        #expect(reasons == [nil, nil, "risk-too-high", "risk-too-high"], "\(evidence.ledger)")
    }

    @Test func `--check names missing topics, unequal partitions and a missing key in one line, and sends no receipt`()
        throws
    {
        let site = try Self.site("refreshchecked")
        let workplace = site.workplace
        func check(_ site: RefreshSite, _ code: Int32, _ words: String) throws {
            var check = try site.workplace.start("refresh-receipts", "--check", "--instance", "r1")
            // A topic that was made a moment ago may not be known yet, and its partitions may have no leader.
            let isSaid = try Deadline.wait(15) {
                if check.waitForEnd() == .exit(code), (check.error + check.output).contains(words) { return true }
                check = try site.workplace.start("refresh-receipts", "--check", "--instance", "r1")
                return false
            }
            #expect(isSaid, "\(check.error) \(check.output)")
            let lines = check.errorBesideLab.split(separator: "\n").count
            #expect(lines == (code == 0 ? 0 : 1) && check.output.isEmpty == (code != 0), "\(check.error)")
        }
        func create(_ name: String, _ partitions: Int) throws {
            let topic = NewTopic(name: name, partitions: partitions, settings: [])
            #expect(try Admin(workplace.properties).createTopics([topic]) == [.created])
        }
        try check(site, 1, "no such topic: \(workplace.requests)")
        try create(workplace.requests, 3)
        try check(site, 1, "no such topic: \(site.receipts)")
        try create(site.receipts, 2)
        try check(site, 1, "\(workplace.requests) has 3 partitions and \(site.receipts) has 2")
        let other = try Self.site("refreshright")
        try other.createTopics()
        try check(other, 1, "cannot reach http://127.0.0.1:\(other.relay.port)/v1/attestationData: ")
        let apple = try other.apple()
        try check(other, 0, "are in order: 3 partitions; Apple answers, and no receipt was sent")
        Self.end(apple)
        try FileManager.default.removeItem(atPath: site.keyPath)
        try check(site, 2, "devicecheck.p8")
        #expect(site.relay.callCount == 0)
        #expect(other.relay.callCount > 0 && other.relay.calls.allSatisfy { $0.receipt.isEmpty && $0.token.isEmpty })
    }
}
