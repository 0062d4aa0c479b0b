import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Testing

private let settings: ClusterSettings = {
    var settings = ClusterSettings()
    settings.users = [ClusterUser("worker", password: "right"), ClusterUser("strict", password: "right")]
    return settings
}()

/// The program on a broker that asks for names and passwords and has access rules.
@Suite(
    .brokerTests,
    .cluster(settings, isLong: true),
    .serialized
)
struct AccessTests {
    enum Mechanism: String, CaseIterable { case scram = "SCRAM-SHA-256", plain = "PLAIN" }

    static let scramWorks =
        LibraryVersion.current.scramSuitsKafka4 || (KafkaInstallation.found?.majorVersion ?? 0) < 4
    static let mechanism = scramWorks ? Mechanism.scram : .plain

    private func cluster() throws -> RealCluster { try #require(RealClusterTrait.cluster) }

    /// A workplace whose worker connects to the listener that asks for a name.
    private func workplace(
        _ prefix: String,
        user: String = "worker",
        password: String = "right",
        mechanism: Mechanism = Self.mechanism,
        _ kafka: [(name: String, value: String)] = []
    ) throws -> ProgramWorkplace {
        let access: [(name: String, value: String)] = [
            ("bootstrap.servers", try cluster().saslServers), ("security.protocol", "sasl_plaintext"),
            ("sasl.mechanisms", mechanism.rawValue), ("sasl.username", user), ("sasl.password", password),
        ]
        return try ProgramWorkplace(prefix, topics: .workplace) { $0.kafka = access + kafka }
    }

    /// The same rules by name prefix, for a user with more than one workplace.
    private static func rules(_ user: String, prefix: String) -> [AccessRule] {
        var rules = [
            AccessRule(user, ["Read", "Write", "DescribeConfigs"], on: [.topic(prefix)]),
            AccessRule(user, ["Read"], on: [.group(prefix)]),
            AccessRule(user, ["Write", "Describe"], on: [.transactionalID(prefix)]),
        ]
        for index in rules.indices { rules[index].isPrefixed = true }
        return rules
    }

    @Test func `with the listed rights, and no others, every request is answered`() throws {
        let workplace = try workplace("strict", user: "strict")
        try cluster().add(AccessRule.least("strict", workplace))
        try workplace.publish(500)
        // Under the name that the worker will have: the rights to its transactional id are looked at too.
        let check = try workplace.start("run", "--check", "--instance", "one")
        #expect(check.waitForEnd() == .exit(0) && check.errorBesideLab.isEmpty, "\(check.error)")
        try work(workplace)
        let findings = try workplace.reckon()
        #expect(findings.isClean, "\(findings.lines)")
    }

    @Test func `a worker with the right password is let in, one with a wrong password is not`() throws {
        try cluster().add(Self.rules("worker", prefix: "open"))
        for mechanism in Mechanism.allCases { try tryPasswords(mechanism) }
    }

    private func tryPasswords(_ mechanism: Mechanism) throws {
        let right = try workplace("open-\(mechanism)", mechanism: mechanism)
        let check = try right.start("run", "--check")
        if mechanism == .scram, !Self.scramWorks {
            #expect(check.waitForEnd() == .exit(1) && check.error.contains("credentials"), "\(check.error)")
            return
        }
        #expect(check.waitForEnd() == .exit(0), "\(check.error)")
        let wrong = try workplace("shut-\(mechanism)", password: "wrong", mechanism: mechanism)
        for (arguments, refused) in try [["--check"], []].map({ ($0, try wrong.start("run", $0)) }) {
            #expect(refused.waitForEnd() == .exit(1), "\(arguments) \(refused.error)")
            #expect(refused.error.split(separator: "\n").count == 1, "one line: \(refused.error)")
            #expect(refused.error.lowercased().contains("authentication"), "\(refused.error)")
        }
    }

    /// A right that is withheld, and how the worker's last line must name it.
    struct Missing: Sendable {
        var operations: [String]
        var resource: @Sendable (ProgramWorkplace) -> AccessRule.Resource
        /// The right as the line has it.
        var right: @Sendable (ProgramWorkplace) -> String
    }

    static let missing =
        ["results", "dead-letters", "ledger"].map { name in
            Missing(
                operations: ["Write"],
                resource: { .topic($0.topic(name)) },
                right: { "Write on topic \($0.topic(name))" }
            )
        }
        + ["requests", "ledger"].map { name in
            Missing(
                operations: ["Read"],
                resource: { .topic($0.topic(name)) },
                right: { "Read on topic \($0.topic(name))" }
            )
        } + [
            Missing(
                operations: ["Read"],
                resource: { .group($0.group) },
                right: { "Read on group \($0.group)" }
            ),
            Missing(
                operations: ["Write"],
                resource: { .transactionalID($0.group + "-one") },
                right: { "Write on transactional id \($0.group)-one" }
            ),
        ]

    @Test func `a missing right ends the worker with one line, and costs no request`() throws {
        let workplace = try workplace("missing")
        try cluster().add(Self.rules("worker", prefix: "missing"))
        // So that there is a ledger to read.
        try workplace.publish(100, seed: 2)
        try work(workplace)
        try workplace.publish(300)
        for missing in Self.missing {
            var denial = AccessRule("worker", missing.operations, on: [missing.resource(workplace)])
            denial.isDenial = true
            try cluster().add([denial])
            let refused = try workplace.start("run", "--instance", "one")
            #expect(refused.waitForEnd() == .exit(1), "\(refused.error) \(refused.output)")
            let last = refused.error.split(separator: "\n").last.map(String.init) ?? ""
            let sentence = "the right \(missing.right(workplace)) is missing"
            #expect(last.contains(" error stopped: ") && last.contains(sentence), "\(refused.error)")
            try cluster().remove([denial])
        }
        try work(workplace)
        let findings = try workplace.reckon()
        #expect(findings.isClean, "\(findings.lines)")
    }

    /// A worker answers everything and ends in order.
    private func work(_ workplace: ProgramWorkplace) throws {
        let worker = try workplace.start("run", "--instance", "one")
        #expect(try workplace.drains { worker.isRunning }, "\(worker.error)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
    }
}
