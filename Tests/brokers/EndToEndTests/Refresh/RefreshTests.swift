import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Testing

/// Workers and a refresher as processes on a real broker.
@Suite(
    "refresh-receipts on a real broker",
    .brokerTests,
    .cluster(),
    .serialized
)
struct RefreshTests {
    static func site(_ prefix: String) throws -> RefreshSite {
        try RefreshSite(prefix, servers: #require(RealClusterTrait.cluster).bootstrapServers)
    }

    /// Waits until the worker has judged all there is, and the lines have nothing to exchange.
    static func settles(_ site: RefreshSite, _ processes: [ProgramProcess]) throws -> Bool {
        let watch = site.workplace.drainWatch()
        return Deadline.wait(60) {
            !processes.allSatisfy(\.isRunning) || (try? site.isSettled(watch)) == true
        }
    }

    /// Stands still until the broker has given its partitions up.
    private static func pause(_ refresher: ProgramProcess, of site: RefreshSite) throws {
        let admin = try Admin(site.workplace.properties)
        refresher.signal(SIGSTOP)
        #expect(Deadline.wait(60) { site.groups.allSatisfy { (try? admin.group($0))?.isEmpty == true } })
        refresher.signal(SIGCONT)
    }

    @Test func `metrics come to keys, results, events and receipts; a pause or a restart calls for nothing again`()
        throws
    {
        let site = try Self.site("refreshed")
        try site.createTopics()
        let port = try Int(BrokerPorts.freePort())
        try site.workplace.rewrite("worker.json") {
            $0.replacing("\"anchors\"", with: "\"metrics\": {\"port\": \(port)}, \"anchors\"")
        }
        let traffic = try RefreshTraffic(site)
        try site.apple.serve()
        var refresher = try site.refresher("r1")
        // Before the worker, whose metrics would have this port.
        #expect(refresher.says("line late reads"), "\(refresher.error)")
        let worker = try site.worker("one")
        func settle() throws {
            try traffic.flush()
            #expect(try Self.settles(site, [worker, refresher]), "\(refresher.error)")
        }
        func attestOne() throws {
            let count = site.apple.callCount
            try traffic.attest()
            try traffic.flush()
            #expect(Deadline.wait(60) { site.apple.callCount > count }, "\(refresher.error)")
            try settle()
        }
        try traffic.attest(9)
        try settle()
        try traffic.assert(0..<9)
        try settle()
        let before = site.apple.calls
        #expect(before.count >= 9 && before.allSatisfy { $0.answer != nil })
        var page: String { Curl.page(port, "/metrics").body }
        #expect(Deadline.wait(30) { Curl.sum("attest_risk_calls_total", page) == before.count }, "\(page)")
        #expect(Curl.page(port, "/readyz").status == 200)

        try Self.pause(refresher, of: site)
        try attestOne()
        refresher.expectEnd(seconds: 60)
        #expect(refresher.error.contains("receipts exchanged"), "\(refresher.error)")
        refresher = try site.refresher("r1")
        #expect(refresher.says("line late reads"), "\(refresher.error)")
        try attestOne()
        #expect(!refresher.error.contains("has no committed offsets"), "\(refresher.error)")
        for process in [refresher, worker] { process.expectEnd(seconds: 60) }
        let later = Set(site.apple.calls.dropFirst(before.count).map(\.receipt))
        #expect(later.count == 2 && before.allSatisfy { !later.contains($0.receipt) })
        let evidence = try RefreshEvidence(site)
        #expect(RefreshAudit.findings(evidence) == [])
        #expect(evidence.calls.count == evidence.passed.values.reduce(0, +), "each line calls for each receipt once")
        #expect(evidence.found.count == 11 && evidence.events.count == 11 && evidence.shown == 9)
        #expect(try site.leaks() == [])
    }

    @Test func `--check names missing topics, unequal partitions and a missing key in one line, and sends no receipt`()
        throws
    {
        func check(_ site: RefreshSite, _ code: Int32, _ words: String) throws {
            var (error, output) = ("", "")
            // A topic that was made a moment ago may not be known yet, and its partitions may have no leader.
            let isSaid = try Deadline.wait(15) {
                let check = try site.workplace.start("refresh-receipts", "--check", "--instance", "r1")
                let end = check.waitForEnd()
                (error, output) = (check.errorBesideLab, check.output)
                return end == .exit(code) && (error + output).contains(words)
            }
            let lines = error.split(separator: "\n").count
            #expect(isSaid && lines == (code == 0 ? 0 : 1) && output.isEmpty == (code != 0), "\(error) \(output)")
        }
        let site = try Self.site("refreshchecked")
        let requests = site.workplace.requests
        func create(_ name: String, _ partitions: Int) throws {
            let topic = NewTopic(name: name, partitions: partitions, settings: [])
            #expect(try Admin(site.workplace.properties).createTopics([topic]) == [.created])
        }
        try check(site, 1, "no such topic: \(requests)")
        try create(requests, 3)
        try check(site, 1, "no such topic: \(site.receipts)")
        try create(site.receipts, 2)
        try check(site, 1, "\(requests) has 3 partitions and \(site.receipts) has 2")
        let other = try Self.site("refreshright")
        try other.createTopics()
        try check(other, 1, "cannot reach http://127.0.0.1:")
        try other.apple.serve()
        try check(other, 0, "are in order: 3 partitions; Apple answers, and no receipt was sent")
        try FileManager.default.removeItem(atPath: site.keyPath)
        try check(site, 2, "devicecheck.p8")
        #expect(other.apple.callCount > 0 && other.apple.calls.allSatisfy { $0.receipt.isEmpty && $0.token.isEmpty })
    }
}
