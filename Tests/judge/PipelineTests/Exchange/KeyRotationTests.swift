import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Keys change while requests are in flight: no request is refused for it.
@Suite struct KeyRotationTests {
    /// One step of an operator who rotates all three kinds at once, each by the rules.
    private static func steps() throws -> [KeyRings] {
        let old = ExchangeKit.rsa
        let new = ExchangeKit.otherRSA
        return [
            try ExchangeKit.keys(tokens: [ExchangeKit.rs256("old", key: old)], sealing: [1], challenges: [2]),
            try ExchangeKit.keys(
                tokens: [ExchangeKit.rs256("old", key: old), ExchangeKit.rs256("new", state: .published, key: new)],
                sealing: [1, 5],
                challenges: [2, 6]
            ),
            try ExchangeKit.keys(
                tokens: [ExchangeKit.rs256("old", state: .published, key: old), ExchangeKit.rs256("new", key: new)],
                sealing: [5, 1],
                challenges: [6, 2]
            ),
        ]
    }

    @Test(arguments: UInt64(1)...6)
    func `all kinds of keys rotate under load: not one refusal, old tokens and artifacts stay valid`(
        seed: UInt64
    ) throws {
        let steps = try Self.steps()
        let rig = try ExchangeRig(ExchangeKit.settings(keys: steps[0]), seed: seed)
        var devices = try rig.register(0..<6)
        var (kids, artifacts, tokens): ([String], [[UInt8]], [String]) = ([], devices.map(\.artifact), [])
        for round in 0..<12 {
            var requests = try rig.assertions(of: &devices, limitedUse: true)
            requests.append(try rig.attestation(of: FakeDevice(ExchangeKit.model, seed: UInt64(100 + round))))
            requests += tokens.map { .verification(of: $0) }
            let before = rig.streams.outputs.count
            let half = requests.count / 2
            for request in requests[..<half] { _ = rig.put(request) }
            // The batch is polled and somewhere in the lanes when the files change.
            for _ in 0..<Int(seed) { _ = try rig.loop.tick(waitMilliseconds: 0) }
            if round % 4 == 2 { rig.replaceLater(try ExchangeKit.settings(keys: steps[min(1 + round / 4, 2)])) }
            for request in requests[half...] { _ = rig.put(request) }
            try rig.settle()
            let outputs = rig.streams.outputs[before...]
            let results = outputs.filter { $0.stream == .results }
            #expect(results.count == requests.count)
            for result in results { #expect(try ReadResult(result).code == 200) }
            let answers = try outputs.filter { $0.stream == .tokens }.map { record in
                try JSONDocument(parsing: record.value ?? []).root
            }
            tokens = answers.compactMap { $0["token"]?.string }
            kids += tokens.compactMap { ExchangeToken($0)?.kid }
            artifacts += answers.compactMap { $0["artifact"]?.base64Bytes }
            rig.time += 10_000
        }
        #expect(Set(kids) == ["old", "new"])
        #expect(Set(artifacts.map { Array($0[33..<37]) }).count == 2)
        let last = steps[2]
        #expect(artifacts.allSatisfy { artifact in (try? last.sealing.open(artifact).get()) != nil })
        #expect(tokens.allSatisfy { ExchangeToken($0)?.isSigned(by: last.tokens) == true })
    }

    @Test func `an artifact sealed years and keys ago still restores its key`() throws {
        var (_, device, artifact) = try ExchangeRig.registered(ExchangeKit.settings(sealing: [1]))
        let later = try ExchangeRig(ExchangeKit.settings(sealing: [9, 8, 7, 1]))
        later.time += 5 * 365 * 86_400_000
        #expect(try later.refresh(&device, artifact).result?["evidence"]?["restored"]?.bool == true)
    }

    @Test func `settings that lack a sealing key in use are refused, and the old settings stay`() throws {
        var (rig, device, artifact) = try ExchangeRig.registered(ExchangeKit.settings(sealing: [1]))
        let missing = try rig.replace(ExchangeKit.settings(sealing: [5]))
        #expect(missing?.ids == [SealingKeyID(of: "key-1").value])
        #expect(missing?.description.contains("sealingKeys of worker.json") == true)
        #expect(try rig.refresh(&device, artifact).verdict == "accepted")
        #expect(try rig.replace(ExchangeKit.settings(sealing: [5, 1])) == nil)
    }

    @Test func `a worker that lacks a sealing key in use does not start, one that has it does`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(sealing: [1]))
        _ = try rig.register(FakeDevice(ExchangeKit.model, seed: 3))
        #expect(throws: MissingSealingKeys.self) {
            try rig.restart(ExchangeKit.settings(sealing: [5]))
        }
        try rig.restart(ExchangeKit.settings(sealing: [5, 1]))
        #expect(try rig.send(.challenge()).verdict == "accepted")
    }

    @Test func `a key that sealed nothing may be removed`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(sealing: [1, 5]))
        _ = try rig.register(FakeDevice(ExchangeKit.model, seed: 3))
        #expect(try rig.replace(ExchangeKit.settings(sealing: [1])) == nil)
    }

    @Test func `settings that arrive while a ledger is read wait until it is complete`() throws {
        let rig = try ExchangeRig(ExchangeKit.settings(sealing: [1]))
        _ = try rig.register(FakeDevice(ExchangeKit.model, seed: 3))
        try rig.restartReplacing(with: ExchangeKit.settings(sealing: [5]))
        // Refused immediately, instead of accepted and fatal later.
        #expect(try rig.send(.challenge()).verdict == "accepted")
        #expect(try rig.replace(ExchangeKit.settings(sealing: [5])) != nil)
    }
}
