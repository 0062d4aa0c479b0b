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
        let files: [String: String] = [
            "ssl.certificate.location": authority.path("\(name).pem"),
            "ssl.key.location": authority.path("\(name).key"), "ssl.key.password": "",
        ]
        let directory = try fixture.configuration(name, .mutual, workplace, files)
        try workplace.publish(300, seed: 1)
        let worker = try start(directory, workplace)
        #expect(try workplace.drains { worker.isRunning }, "\(worker.error)")

        try authority.issue(name, .client("/O=Example/CN=\(new)"))
        #expect(worker.says("certificates were renewed: the clients are made anew"), "\(worker.error)")
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
        let findings = try workplace.reckon()
        #expect(findings.isClean, "\(findings.lines)")
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
