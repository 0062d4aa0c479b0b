import BrokerKit
import ChaosKit
import Foundation
import Testing

extension TLSTests {
    /// The broker knows clients by their certificates' names: what the old one may do is taken away, so no client of the
    /// worker uses it any more.
    @Test(arguments: [1, 2])
    func `a renewed client certificate is taken without a restart, by every client, and no request is answered twice`(
        loops: Int
    ) throws {
        let fixture = try TLSFixture()
        let authority = fixture.tls.authority
        let (name, old, new) = ("renewal\(loops)", "old\(loops)", "new\(loops)")
        let workplace = try ProgramWorkplace(name, topics: .workplace) { $0.members = "\"loops\": \(loops)," }
        for user in [old, new] { try fixture.cluster.add(AccessRule.least(user, workplace)) }
        if loops > 1 { try addLoops(loops, [old, new], fixture, workplace) }
        try authority.issue(name, .client("/O=Example/CN=\(old)"))
        let directory = try fixture.configuration(name, .mutual, workplace, authority.lines(name))
        try workplace.publish(300, seed: 1)
        let worker = try start(directory, workplace)
        #expect(try workplace.drains { worker.isRunning }, "\(worker.error)")

        try authority.issue(name, .client("/O=Example/CN=\(new)"))
        #expect(worker.says("certificates were renewed: the clients are replaced"), "\(worker.error)")
        // The load goes on meanwhile, until every loop has its partitions again.
        for seed in 2...4 as ClosedRange<UInt64> {
            try workplace.publish(200, seed: seed)
            #expect(try workplace.drains { worker.isRunning }, "\(worker.error)")
        }
        Thread.sleep(forTimeInterval: Double(loops) * 4)
        try fixture.cluster.remove(AccessRule.least(old, workplace))
        try workplace.publish(300, seed: 5)
        #expect(try workplace.drains { worker.isRunning }, "\(worker.error)")
        try expectOrderlyEnd(worker)
        #expect(!worker.error.contains("is missing"), "\(worker.error)")
        try workplace.expectClean()
    }

    @Test func `refresh-receipts takes a renewed client certificate without a restart, for its lines and its requests`()
        throws
    {
        let fixture = try TLSFixture()
        let authority = fixture.tls.authority
        let site = try RefreshSite("refreshrenewal", servers: fixture.cluster.bootstrapServers)
        try site.createTopics()
        let (name, old, new) = ("refresher", "oldrefresher", "newrefresher")
        for user in [old, new] { try fixture.cluster.add(refresherRules(user, site)) }
        try authority.issue(name, .client("/O=Example/CN=\(old)"))
        let directory = try fixture.configuration(name, .mutual, site.workplace, authority.lines(name))
        let arguments = ["refresh-receipts", "--config", directory, "--instance", "r1"]
        let refresher = try ProgramProcess(arguments, in: site.workplace.folder)
        let processes = [refresher, try site.worker("one")]
        try site.apple.serve()
        let traffic = try RefreshTraffic(site)
        func exchange() throws {
            let calls = site.apple.callCount
            try traffic.attest(3)
            try traffic.flush()
            #expect(Deadline.wait(60) { site.apple.callCount >= calls + 3 }, "\(refresher.error)")
            #expect(try RefreshTests.settles(site, processes), "\(refresher.error)")
        }
        try exchange()
        try authority.issue(name, .client("/O=Example/CN=\(new)"))
        #expect(refresher.says("certificates were renewed: the clients are replaced"), "\(refresher.error)")
        try exchange()
        Thread.sleep(forTimeInterval: 4)
        try fixture.cluster.remove(refresherRules(old, site))
        try exchange()
        for process in processes { process.expectEnd(seconds: 60) }
        #expect(RefreshAudit.findings(try RefreshEvidence(site)) == [])
    }

    /// As the Kafka page lists them.
    private func refresherRules(_ user: String, _ site: RefreshSite) -> [AccessRule] {
        var group = AccessRule(user, ["Read"], on: [.group(site.workplace.group)])
        group.isPrefixed = true
        return [
            AccessRule(user, ["Read"], on: [.topic(site.receipts)]),
            AccessRule(user, ["Write"], on: [.topic(site.workplace.requests)]), group,
        ]
    }

    /// Loops have transactional ids with a number.
    private func addLoops(_ loops: Int, _ users: [String], _ fixture: TLSFixture, _ workplace: ProgramWorkplace) throws
    {
        for user in users {
            let ids = (0..<loops).map { AccessRule.Resource.transactionalID("\(workplace.group)-one-\($0)") }
            try fixture.cluster.add([AccessRule(user, ["Write", "Describe"], on: ids)])
        }
    }
}

extension TLSAuthority {
    /// The lines of kafka.properties for a client certificate whose key has no password.
    fileprivate func lines(_ name: String) -> [String: String] {
        [
            "ssl.certificate.location": path("\(name).pem"), "ssl.key.location": path("\(name).key"),
            "ssl.key.password": "",
        ]
    }
}
