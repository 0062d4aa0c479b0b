import AppAttest
import BrokerKit
import Foundation
import JSON
import Settings
import TestKit
import Testing
import Traffic

@testable import Lab

/// Keys inside SoftHSM2, behind a module that can fail, and the built program on a real broker.
@Suite(
    "Signing keys inside a token",
    .brokerTests,
    .enabled(if: HSMSite.isHere, "softhsm2 or a C compiler is missing"),
    .cluster(isLong: true),
    .serialized
)
struct HSMTests {
    @Test func `a rotation from a file into the token and back under load refuses no request and no token`() throws {
        let site = try HSMSite("hsm-rotation")
        let fileKid = try #require(
            try JSONDocument(parsing: Array(site.workplace.done("jwks").output.utf8)).root["keys"]?.elements
                .compactMap { $0["kid"]?.string }.first { $0 != site.kid }
        )
        let fleet = try site.workplace.fleet()
        let worker = try site.workplace.start("run", "--instance", "one")
        try fleet.serve { fleet.tally.sessions >= 5 }
        try site.activate(site.kid, worker)
        #expect(worker.says("signing key \(site.kid) is active"), "\(worker.error)")
        try fleet.serve { fleet.tally.consumed >= 25 }
        try site.activate(fileKid, worker)
        // Nothing is said of the file's key, which is older than the other one.
        #expect(worker.says("the configuration is reloaded", times: 2), "\(worker.error)")
        #expect(!fleet.isDone, "the key of the file has something to do")
        try fleet.finish(with: worker)
        #expect(try site.workplace.signers(of: fleet.tally.tokens) == [site.kid, fileKid])
        let rollout = try JSONDocument(parsing: Array(site.workplace.done("rollout", "--json").output.utf8)).root
        let successes = rollout["apps"]?.elements.compactMap { $0["successes"]?.integer } ?? []
        #expect(successes.reduce(0, +) == Int64(fleet.tally.tokens.count), "\(successes)")
    }

    /// The module looks for `away`; the library beneath it has its token in `tokens`.
    @Test(arguments: [("here", "away"), ("tokens", "moved")])
    func `while the token is away exchanges are deferred and told once, the others go on, and it comes back`(
        name: String,
        other: String
    ) throws {
        let site = try HSMSite("hsm-\(other)")
        site.set("here")
        try site.activate(site.kid)
        let worker = try site.worker()
        try site.expectDeferral(by: worker) { try site.move(name, to: other) }
        #expect(worker.errors("exchanges that need it are deferred") == 1, "\(worker.error)")
        try site.move(other, to: name)
        #expect(worker.says("signing key \(site.kid) signs again"), "\(worker.error)")
        try site.publish(60, exchanges: true, seed: 4)
        #expect(try site.workplace.hasOutcomes(240, of: [worker]), "\(worker.error)")
        worker.expectEnd()
        #expect(try Outcomes(of: site.workplace).counts == ["accepted": 180, "no-active-key": 60])
    }

    @Test func `a signature that never returns holds up no other request, no start and no end`() throws {
        let site = try HSMSite("hsm-hang")
        try site.activate(site.kid)
        let worker = try site.worker()
        try site.expectDeferral(by: worker) { site.set("hang") }
        #expect(worker.says("signing key \(site.kid) does not answer in time: exchanges"), "\(worker.error)")
        for command in [["jwks"], ["run", "--check=config"]] {
            let other = try site.workplace.refused(command[0], Array(command.dropFirst()))
            #expect(
                other.error.contains("signing key \(site.kid): ") && other.error.contains("does not answer in time")
            )
        }
        worker.expectEnd()
        let next = try site.workplace.start("run", "--instance", "one")
        #expect(next.says("signing key \(site.kid) does not answer in time: exchanges"), "\(next.error)")
        try site.workplace.rewrite("apps.json") { $0 + "\n" }
        next.signal(SIGHUP)
        #expect(next.says("the configuration is reloaded"), "\(next.error)")
        try site.clear("hang")
        #expect(next.says("signing key \(site.kid) signs again"), "\(next.error)")
        #expect(next.says("the configuration is reloaded", times: 2, seconds: 30), "\(next.error)")
        try site.publish(60, exchanges: true, seed: 4)
        #expect(try site.workplace.hasOutcomes(240, of: [next]), "\(next.error)")
        #expect(try Outcomes(of: site.workplace).counts == ["accepted": 180, "no-active-key": 60])
        next.expectEnd()
        #expect(!(worker.error + next.error).contains("key.young"), "\(next.error)")
        // Another key takes over without the token, which alone tells whether its own signs.
        site.set("hang")
        let fileKid = try Configuration.load(directory: site.workplace.config).signingKeys.first { $0.key == nil }?.kid
        try site.workplace.done("new-keys", "--activate", try #require(fileKid))
        func refused() throws -> String { try site.workplace.refused("new-keys", "--activate", site.kid).error }
        #expect(try refused().contains("is away: activate it when its token signs"))
        try site.clear("hang")
        #expect(try refused().contains("signing key \(site.kid) is only "))
    }

    @Test func `a PIN that the token refuses is tried once, by however many threads, and not where it is the last try`()
        throws
    {
        let site = try HSMSite("hsm-pin")
        try site.activate(site.kid)
        let worker = try site.worker()
        worker.signal(SIGSTOP)
        try site.publish(100, exchanges: true, seed: 2)
        let before = site.logins
        ["wrong-pin", "robbed"].forEach(site.set)
        worker.signal(SIGCONT)
        #expect(try site.workplace.hasOutcomes(160, of: [worker]), "\(worker.error)")
        #expect(
            worker.says("C_Login ends with CKR_PIN_INCORRECT; correct the PIN's file: exchanges"),
            "\(worker.error)"
        )
        worker.signal(SIGHUP)
        #expect(worker.says("the configuration is not reloaded"), "\(worker.error)")
        #expect(site.logins == before + 1, "the threads of a batch, the tries since, the reload")
        try site.clear("wrong-pin")
        try site.use(pin: "12345")
        worker.signal(SIGHUP)
        #expect(eventually({ site.logins }, until: { $0 == before + 2 }), "another PIN is tried")
        try site.use(pin: "1234")
        site.set("last-try")
        for (command, code) in [(["jwks"], 2), (["jwks", "--try-pin"], 0)] as [([String], Int32)] {
            let other = try site.workplace.start(command[0], Array(command.dropFirst()))
            #expect(other.waitForEnd() == .exit(code), "\(other.error)")
            #expect(code == 0 || other.error.contains("one more wrong PIN locks its token"), "\(other.error)")
            #expect(site.logins == before + (code == 0 ? 3 : 2))
        }
        try site.clear("last-try")
        site.set("locked")
        let locked = try site.workplace.start("run", "--instance", "two")
        #expect(locked.waitForEnd() == .exit(2) && locked.error.contains("wrong PINs have locked its token"))
        #expect(site.logins == before + 3)
        try site.clear("locked")
        worker.signal(SIGHUP)
        #expect(worker.says("signing key \(site.kid) signs again"), "\(worker.error)")
        worker.expectEnd()
    }

    @Test(arguments: ["RS256", "ES256"])
    func `sessions that die, and a slow token, defer nothing and leave the group alone`(algorithm: String) throws {
        let site = try HSMSite("hsm-\(algorithm.lowercased())", algorithm: algorithm)
        if algorithm == "ES256" {
            try site.workplace.rewrite("apps.json") { $0.replacing("\"RS256\"", with: "\"ES256\"") }
        } else {
            try site.activate(site.kid)
        }
        let worker = try site.worker()
        for (round, fault) in ["robbed", "slow"].enumerated() {
            site.set(fault)
            try site.publish(100, exchanges: true, seed: 10 + round)
            try site.publish(100, exchanges: false, seed: 20 + round)
            #expect(try site.workplace.hasOutcomes(260 + 200 * round, of: [worker]), "\(worker.error)")
        }
        #expect(!site.isSet("robbed"), "the sessions were taken")
        worker.expectEnd()
        #expect(try Outcomes(of: site.workplace).counts == ["accepted": 460])
        #expect(!worker.error.contains("partitions.lost") && !worker.error.contains("key.away"), "\(worker.error)")
        #expect(site.isSet("parallel-16") && !site.isSet("parallel-17"), "\(worker.error)")
    }

    @Test func `a token of three sessions makes three signatures at once, and leaves no thread waiting when it goes`()
        throws
    {
        let site = try HSMSite("hsm-narrow")
        try site.activate(site.kid)
        ["narrow", "slow"].forEach(site.set)
        let worker = try site.worker()
        #expect(try Outcomes(of: site.workplace).counts == ["accepted": 60])
        // The token goes away while three threads sign and the others wait for a session; no thread hangs.
        try site.clear("parallel-3")
        try site.publish(60, exchanges: true, seed: 2)
        #expect(eventually({ site.isSet("parallel-3") }, until: { $0 }), "\(worker.error)")
        site.set("away")
        #expect(try site.workplace.hasOutcomes(120, of: [worker]), "\(worker.error)")
        let counts = try Outcomes(of: site.workplace).counts
        #expect(counts["no-active-key"] ?? 0 > 0 && counts.values.reduce(0, +) == 120, "\(counts)")
        try site.clear("away")
        #expect(worker.says("signing key \(site.kid) signs again"), "\(worker.error)")
        worker.expectEnd()
        #expect(site.isSet("parallel-3") && !site.isSet("parallel-4"), "\(worker.error)")
    }

    @Test func `a token that is away at the start is the world's fault, and a wrong PIN is the configuration's`() throws
    {
        let site = try HSMSite("hsm-start")
        site.set("away")
        let worker = try site.workplace.refused("run", "--instance", "one")
        #expect(
            worker.error.contains("cannot be reached: C_OpenSession ends with CKR_TOKEN_NOT_PRESENT"),
            "\(worker.error)"
        )
        try site.clear("away")
        try site.use(pin: "4321")
        let other = try site.workplace.start("run", "--instance", "one")
        #expect(other.waitForEnd() == .exit(2))
        #expect(other.error.contains("C_Login ends with CKR_PIN_INCORRECT; correct the PIN's file"), "\(other.error)")
    }
}
