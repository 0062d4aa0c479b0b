import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Testing

private let settings = ClusterSettings {
    $0.users = [ClusterUser("worker", password: "right"), ClusterUser("strict", password: "right")]
}

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

    /// Rights that are withheld, one at a time, as the worker's last line has them.
    private static func rights(_ workplace: ProgramWorkplace) -> [(right: String, AccessRule)] {
        func right(_ operation: String, _ resource: AccessRule.Resource) -> (right: String, AccessRule) {
            var denial = AccessRule("worker", [operation], on: [resource])
            denial.isDenial = true
            let what =
                switch resource {
                case .topic(let name): "topic \(name)"
                case .group(let name): "group \(name)"
                case .transactionalID(let id): "transactional id \(id)"
                }
            return ("\(operation) on \(what)", denial)
        }
        return ["results", "dead-letters", "ledger"].map { right("Write", .topic(workplace.topic($0))) }
            + ["requests", "ledger"].map { right("Read", .topic(workplace.topic($0))) }
            + [right("Read", .group(workplace.group)), right("Write", .transactionalID(workplace.group + "-one"))]
    }

    @Test func `a missing right ends the worker with one line, and costs no request`() throws {
        let workplace = try workplace("missing")
        try cluster().add(Self.rules("worker", prefix: "missing"))
        // So that there is a ledger to read.
        try workplace.publish(100, seed: 2)
        try work(workplace)
        try workplace.publish(300)
        for (right, denial) in Self.rights(workplace) {
            try cluster().add([denial])
            let refused = try workplace.refused("run", "--instance", "one")
            let last = refused.error.split(separator: "\n").last.map(String.init) ?? ""
            let sentence = "the right \(right) is missing"
            #expect(last.contains(" error stopped: ") && last.contains(sentence), "\(refused.error)")
            try cluster().remove([denial])
        }
        try work(workplace)
    }

    private func work(_ workplace: ProgramWorkplace) throws {
        try workplace.expectOrder(of: workplace.start("run", "--instance", "one"))
    }
}
