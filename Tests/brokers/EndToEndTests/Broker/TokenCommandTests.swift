import BrokerKit
import ChaosKit
import Foundation
import TestKit
import Testing

private let settings = ClusterSettings {
    $0.hasTLS = true
    // A connection lives as long as its token, and no longer than this.
    $0.properties = [("listener.name.sasltls.oauthbearer.connections.max.reauth.ms", "4000")]
}

/// The program with tokens of a command, on a broker that ends each connection with its token.
@Suite(
    "Tokens of a command on a real broker",
    .brokerTests,
    .cluster(settings),
    .serialized
)
struct TokenCommandTests {
    private static let life = 5

    private let tls: ClusterTLS

    init() throws {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        tls = try #require(cluster.tls)
    }

    private func site(_ name: String) throws -> (ProgramWorkplace, TokenLab) {
        let lab = try TokenLab(life: Self.life)
        let workplace = try ProgramWorkplace(name, topics: .workplace) { $0.kafka = lab.properties(tls) }
        return (workplace, lab)
    }

    /// Publishes and waits until so many further runs of the command, with all requests answered.
    private func answer(
        _ workplace: ProgramWorkplace,
        _ lab: TokenLab,
        runs: Int,
        seeds: UInt64,
        _ worker: ProgramProcess
    )
        throws
    {
        let end = lab.runs + runs
        var seed = seeds
        while lab.runs < end, worker.isRunning {
            try workplace.publish(50, seed: seed)
            #expect(try workplace.drains { worker.isRunning }, "\(worker.error)")
            seed += 1
        }
    }

    private func end(_ worker: ProgramProcess) {
        worker.expectEnd()
        let said = worker.output + worker.error
        // A token's header in base64, and a later line of the command's standard error.
        #expect(!said.contains("eyJ") && !said.contains(TokenLab.secret), "\(said)")
    }

    @Test func `over many tokens' lives every request is answered once, and the check passes`() throws {
        let (workplace, lab) = try site("tokens")
        defer { lab.remove() }
        let check = try workplace.start("run", "--check", "--instance", "one")
        #expect(check.waitForEnd() == .exit(0) && check.errorBesideLab.isEmpty, "\(check.error)")
        // Any command: this one writes by a client of its own.
        try workplace.simulate(devices: 10, records: 100)
        let worker = try workplace.start("run", "--instance", "one")
        try answer(workplace, lab, runs: 6, seeds: 10, worker)
        end(worker)
        #expect(!worker.error.contains("token.command"), "\(worker.error)")
        try workplace.expectClean()
    }

    @Test func `while the command fails, hangs or is refused the worker waits, tells it once, and goes on afterwards`()
        throws
    {
        let (workplace, lab) = try site("troubled")
        defer { lab.remove() }
        try lab.set(.failing)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(worker.says("waiting for the broker: "), "\(worker.error)")
        #expect(worker.says("token.command ended with exit code 3: no answer of the token endpoint; there is no token"))
        try lab.set(.good)
        #expect(worker.says("token.command gives tokens again"), "\(worker.error)")
        try answer(workplace, lab, runs: 1, seeds: 20, worker)
        let lost = "no broker is connected"
        for (index, mode) in [TokenLab.Mode.failing, .hanging, .refused].enumerated() {
            let (before, losses) = (lab.runs, worker.errors(lost))
            try lab.set(mode)
            #expect(worker.says(lost, times: losses + 1, seconds: 60), "\(mode): \(worker.error)")
            try workplace.publish(50, seed: UInt64(30 + index))
            #expect(eventually({ lab.runs }, until: { $0 > before }), "\(mode): \(worker.error)")
            try lab.set(.good)
            #expect(try workplace.drains(seconds: 120) { worker.isRunning }, "\(mode): \(worker.error)")
        }
        end(worker)
        // The worker logs the first failure and the recovery; retries in between add no line.
        let line = "broker.client: sasl.oauthbearer.token.command "
        #expect(worker.errors(line + "ended with exit code 3") == 2, "\(worker.error)")
        #expect(worker.errors(line + "did not end within 30") == 1, "\(worker.error)")
        #expect(worker.errors(line + "gives tokens again") == 3, "\(worker.error)")
        try workplace.expectClean()
    }

    @Test func `a check whose command gives no token ends with one line that says why`() throws {
        let (workplace, lab) = try site("checked")
        defer { lab.remove() }
        try lab.set(.failing)
        let check = try workplace.refused("run", "--check")
        #expect(check.error.split(separator: "\n").count == 1, "\(check.error)")
        #expect(check.error.contains("token.command ended with exit code 3: no answer of the token endpoint"))
        try lab.set(.refused)
        let refused = try workplace.refused("run", "--check")
        #expect(refused.error.contains("SASL") && refused.error.contains("invalid_token"), "\(refused.error)")
    }

    @Test func `a gateway serves over many tokens' lives`() throws {
        let lab = try TokenLab(life: Self.life)
        defer { lab.remove() }
        let site = try GatewaySite("gatewaytokens", kafka: lab.properties(tls))
        let end = lab.runs + 12
        var seed = 1
        while lab.runs < end {
            try site.serve(devices: 5, records: 100, seed: seed)
            seed += 1
        }
        for process in [site.gateway, site.worker] { self.end(process) }
    }
}
