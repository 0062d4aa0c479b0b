import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import TestKit
import Testing

/// Assertions that a device signed at once and the network reordered.
@Suite("A window of counters")
struct CounterWindowTests {
    private static func settings(_ window: Int) throws -> PipelineSettings {
        try ExchangeKit.settings { $0.counterWindow = window }
    }

    /// A registered device with assertions of its next counters: exchanges, each with its challenge, or `verifyAssertion`,
    /// which the counter alone uses up.
    private struct Burst {
        let rig: ExchangeRig
        var device = FakeDevice(ExchangeKit.model, seed: 3)
        let requests: [ExchangeRequest]

        init(_ count: Int, window: Int, exchanges: Bool = false) throws {
            rig = try ExchangeRig(settings(window))
            let artifact = try rig.register(device)
            var requests: [ExchangeRequest] = []
            for index in 0..<count {
                if exchanges {
                    requests.append(try rig.assertion(of: &device, artifact))
                } else {
                    requests.append(.verifyAssertion(of: device, counter: UInt32(index + 1)))
                }
            }
            self.requests = requests
        }
    }

    /// Sixteen calls in the order in which they arrived.
    private static let arrival = [1, 0, 3, 2, 6, 5, 4, 8, 7, 10, 9, 12, 11, 15, 14, 13]

    @Test func `of sixteen calls that overtake each other a window accepts each, and strict counters seven`() throws {
        for (window, accepted) in [(0, 7), (1, 14), (2, 16), (64, 16)] {
            let burst = try Burst(16, window: window)
            let answers = try burst.rig.send(Self.arrival.map { burst.requests[$0] })
            let refused = answers.filter { $0.verdict != "accepted" }
            #expect(answers.count - refused.count == accepted, "window \(window)")
            #expect(refused.allSatisfy { $0.reason == "counter-not-greater" })
            #expect(burst.rig.key(burst.device)?.counter == 16)
            // Under other ids those that were accepted are not accepted again.
            let again = try burst.rig.send(burst.requests)
            #expect(again.allSatisfy { $0.reason == "counter-not-greater" })
        }
    }

    @Test func `a result has the assertion's counter and the highest before it`() throws {
        let burst = try Burst(3, window: 8)
        let answers = try burst.rig.send([burst.requests[2], burst.requests[0], burst.requests[1]])
        #expect(answers.map(\.counter) == [3, 1, 2])
        #expect(answers.map { $0.result?["evidence"]?["previousCounter"]?.integer } == [0, 3, 3])
        #expect(burst.rig.key(burst.device)?.counters == KeyCounters(highest: 3))
    }

    @Test func `exchanges that overtake each other get their tokens`() throws {
        let burst = try Burst(3, window: 8, exchanges: true)
        let answers = try burst.rig.send([burst.requests[2], burst.requests[0], burst.requests[1]])
        #expect(answers.allSatisfy { $0.verdict == "accepted" && $0.token != nil })
        #expect(Set(answers.compactMap { $0.token?.id }).count == 3)
    }

    @Test func `the duplicate of a call from behind gets its answer again and moves nothing`() throws {
        let burst = try Burst(3, window: 8)
        let behind = burst.requests[0].with(id: "behind")
        let answers = try burst.rig.send([burst.requests[2], behind, behind])
        #expect(answers.map(\.verdict) == ["accepted", "accepted", "accepted"])
        #expect(answers[2].result?["duplicate"]?.bool == true)
        #expect(burst.rig.key(burst.device)?.counters == KeyCounters(highest: 3, skipped: [2]))
        #expect(try burst.rig.send(burst.requests[0].with(id: "other")).reason == "counter-not-greater")
    }

    @Test func `what a restart reads of the ledger neither opens nor closes a counter`() throws {
        let burst = try Burst(5, window: 8)
        _ = try burst.rig.send([burst.requests[4], burst.requests[1]])
        let before = burst.rig.key(burst.device)?.counters
        #expect(before == KeyCounters(highest: 5, skipped: [1, 3, 4]))
        try burst.rig.restart()
        #expect(burst.rig.key(burst.device)?.counters == before)
        let verdicts = try burst.rig.send([burst.requests[1], burst.requests[3]])
        #expect(verdicts.map(\.verdict) == ["refused", "accepted"])
    }

    /// A worker without a window, or of a version before windows, takes the group's key in between.
    @Test func `between workers with a window a strict one closes what was open`() throws {
        let burst = try Burst(6, window: 8)
        #expect(try burst.rig.send(burst.requests[3]).verdict == "accepted")
        try burst.rig.restart(Self.settings(0))
        #expect(try burst.rig.send(burst.requests[1]).reason == "counter-not-greater")
        #expect(burst.rig.key(burst.device)?.skipped == 0b111, "a refusal writes nothing")
        #expect(try burst.rig.send(burst.requests[4]).verdict == "accepted")
        try burst.rig.restart(Self.settings(8))
        #expect(burst.rig.key(burst.device)?.counters == KeyCounters(highest: 5))
        #expect(try burst.rig.send([burst.requests[0], burst.requests[2]]).allSatisfy { $0.verdict == "refused" })
        #expect(try burst.rig.send(burst.requests[5]).verdict == "accepted")
    }

    @Test func `an attestation again keeps what is open and opens nothing`() throws {
        let burst = try Burst(4, window: 8)
        _ = try burst.rig.send([burst.requests[3], burst.requests[1]])
        let before = burst.rig.key(burst.device)?.counters
        _ = try burst.rig.register(burst.device)
        #expect(burst.rig.key(burst.device)?.counters == before)
        #expect(try burst.rig.send(burst.requests[1]).reason == "counter-not-greater")
        #expect(try burst.rig.send(burst.requests[2]).verdict == "accepted")
    }

    @Test func `a key restored from its artifact opens nothing: its used counters are lost`() throws {
        let burst = try Burst(4, window: 8, exchanges: true)
        let rig = try ExchangeRig(Self.settings(8))
        let restored = try rig.send(burst.requests[2])
        #expect(restored.verdict == "accepted" && restored.result?["evidence"]?["restored"]?.bool == true)
        #expect(rig.key(burst.device)?.counters == KeyCounters(highest: 3, unseen: 8))
        #expect(try rig.send(burst.requests[1]).reason == "counter-not-greater")
        #expect(try rig.send(burst.requests[3]).verdict == "accepted")
    }

    /// The first that arrives after the loss was on its way before it, behind one that was accepted.
    @Test func `a key restored by a late assertion does not open what was used above it`() throws {
        let burst = try Burst(6, window: 8, exchanges: true)
        let rig = try ExchangeRig(Self.settings(8))
        let answers = try rig.send([burst.requests[2], burst.requests[5], burst.requests[3], burst.requests[4]])
        #expect(answers.map(\.verdict) == ["accepted", "accepted", "refused", "refused"])
        try rig.restart()
        #expect(rig.key(burst.device)?.counters == KeyCounters(highest: 6, unseen: 5))
    }

    @Test func `a key that is forgotten and attests again opens none of the counters beyond the window`() throws {
        let burst = try Burst(12, window: 8)
        #expect(try burst.rig.send(Array(burst.requests[..<10])).allSatisfy { $0.verdict == "accepted" })
        #expect(try burst.rig.send(burst.rig.command(.forget, burst.device)).verdict == "accepted")
        #expect(burst.rig.key(burst.device) == nil)
        _ = try burst.rig.register(burst.device)
        #expect(try burst.rig.send(burst.requests[10]).verdict == "accepted")
        let again = try burst.rig.send(Array(burst.requests[2..<10]))
        #expect(again.allSatisfy { $0.reason == "counter-not-greater" })
        #expect(try burst.rig.send(burst.requests[11]).verdict == "accepted")
    }

    @Test func `a fresh key's first assertions may overtake each other`() throws {
        let burst = try Burst(9, window: 8)
        let answers = try burst.rig.send([burst.requests[8]] + burst.requests[..<8].reversed())
        #expect(answers.allSatisfy { $0.verdict == "accepted" })
        #expect(burst.rig.key(burst.device)?.counters == KeyCounters(highest: 9))
    }

    @Test func `an assertion that is refused for another reason uses no counter`() throws {
        let burst = try Burst(3, window: 8)
        #expect(try burst.rig.send(burst.requests[2]).verdict == "accepted")
        var behind = burst.requests[0]
        behind.timestamp = burst.rig.time + 400_000
        #expect(try burst.rig.send(behind).reason != nil)
        #expect(burst.rig.key(burst.device)?.counters == KeyCounters(highest: 3, skipped: [1, 2]))
    }
}
