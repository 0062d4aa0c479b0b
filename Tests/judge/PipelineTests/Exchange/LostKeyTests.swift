import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import TestKit
import Testing

/// Assertions whose key the ledger has lost, and artifacts that do not fit.
@Suite struct LostKeyTests {
    /// A device's artifact from a worker whose ledger was lost, and the worker that comes after it.
    private static func orphan(
        _ settings: PipelineSettings? = nil
    ) throws -> (rig: ExchangeRig, device: FakeDevice, artifact: [UInt8]) {
        var (lost, device, artifact) = try ExchangeRig.registered()
        for _ in 0..<3 { _ = try lost.refresh(&device, artifact) }
        return (try ExchangeRig(settings ?? ExchangeKit.settings()), device, artifact)
    }

    @Test func `a lost key is restored from its artifact: with this assertion's counter, in result and event`() throws {
        var (rig, device, artifact) = try Self.orphan()
        let answers = try rig.refresh(&device, artifact)
        #expect(answers.verdict == "accepted")
        #expect(answers.counter == 4)
        #expect(answers.result?["evidence"]?["restored"]?.bool == true)
        #expect(answers.result?["evidence"]?["previousCounter"] == nil)
        #expect(answers.result?["evidence"]?["environment"]?.string == "production")
        #expect(answers.event?["restored"]?.bool == true)
        #expect(answers.token?.isSigned(by: rig.settings.exchange.keys.tokens) == true)
        let record = try #require(rig.key(device))
        #expect(record.counter == 4 && record.publicKey == device.publicKey && record.app == ExchangeKit.name)
        // From now on it is a key like others.
        let next = try rig.refresh(&device, artifact)
        #expect(next.counter == 5 && next.result?["evidence"]?["restored"] == nil && next.event?["restored"] == nil)
        var behind = device
        behind.counter = 3
        #expect(try rig.refresh(&behind, artifact).reason == "counter-not-greater")
    }

    @Test func `a lost key whose assertion is refused stays lost, and no event reports it as restored`() throws {
        var (rig, device, artifact) = try Self.orphan()
        let answers = try rig.send(rig.assertion(of: &device, artifact, fault: .signatureFlipped))
        #expect(answers.reason == "signature-invalid")
        #expect(rig.key(device) == nil)
        #expect(answers.eventName == "AppAttestFailure" && answers.event?["restored"] == nil)
    }

    @Test(arguments: ["policy", "unchecked"])
    func `a lost key is unknown if restoring is not allowed or the partition is not certain`(why: String) throws {
        var settings = try ExchangeKit.settings { if why == "policy" { $0.unknownKeys = .refuse } }
        if why == "unchecked" { settings.partitionOfKey = nil }
        var (rig, device, artifact) = try Self.orphan(settings)
        let answers = try rig.refresh(&device, artifact)
        #expect(answers.reason == "unknown-key" && answers.code == 403)
        #expect(rig.key(device) == nil && answers.answer == nil)
        // A key that the ledger has is judged by the same rules.
        var known = FakeDevice(ExchangeKit.model, seed: 9)
        let own = try rig.register(known)
        #expect(try rig.refresh(&known, own).verdict == "accepted")
    }

    @Test func `on a partition that is not the key's no key is restored`() throws {
        var (_, device, artifact) = try Self.orphan()
        let rig = try ExchangeRig(ExchangeKit.settings(partitions: 2), partitions: 2)
        var request = try rig.assertion(of: &device, artifact)
        let home = ExchangeKit.partition(of: device.keyID.recordKey, 2)
        request.partition = 1 - home
        let answers = try rig.send(request)
        #expect(answers.reason == "key-mismatch" && answers.code == 503)
        request.partition = home
        #expect(try rig.send(request).verdict == "accepted")
    }

    @Test(arguments: ["other app", "environment", "tag", "key ID", "sealing key", "version", "short", "foreign ring"])
    func `an artifact that does not fit is refused, whether the ledger knows the key or not`(fault: String) throws {
        let settings = try ExchangeKit.settings(keys: ExchangeKit.keys(sealing: fault == "foreign ring" ? [8] : [1])) {
            if fault == "environment" { $0.expectations.environments = [.development] }
        }
        var (rig, device, artifact) = try Self.orphan(settings)
        switch fault {
        case "tag": artifact[artifact.count - 1] ^= 1
        case "sealing key": artifact[34] ^= 1
        case "version": artifact[0] = 2
        case "short": artifact = Array(artifact.prefix(60))
        case "key ID": artifact[5] ^= 1
        default: break
        }
        let resource = fault == "other app" ? ExchangeKit.otherResource : ExchangeKit.resource
        var request = try rig.assertion(of: &device, artifact, resource: resource)
        if fault == "key ID", let claimed = KeyID(artifact[1..<33].span) { request.key = claimed.recordKey }
        let answers = try rig.send(request)
        // What a file may still bring must not cost a device its key.
        let isUnlisted = ["sealing key", "foreign ring"].contains(fault)
        let reason = isUnlisted ? "sealing-key-unknown" : "artifact-invalid"
        #expect(answers.reason == reason && answers.code == (isUnlisted ? 503 : 403))
        #expect(answers.eventName == (isUnlisted ? nil : "AppAttestFailure"))
        #expect(answers.event?["reason"]?.string == (isUnlisted ? nil : reason))
        #expect(rig.key(device) == nil)
    }

    @Test func `a key attested for one app does not belong to another`() throws {
        let (rig, device, _) = try ExchangeRig.registered()
        let other = try rig.attestation(of: device, resource: ExchangeKit.otherResource)
        #expect(try rig.send(other).reason == "key-already-bound")
        #expect(rig.key(device)?.app == ExchangeKit.name)
    }

    @Test(arguments: Environment.allCases)
    func `a key serves where its app accepts its environment, and attests again in no other`(
        own: Environment
    ) throws {
        func settings(_ environments: Set<Environment>) throws -> PipelineSettings {
            try ExchangeKit.settings { $0.expectations.environments = environments }
        }
        func device(_ environment: Environment) -> FakeDevice {
            FakeDevice(
                DeviceModel(ca: ExchangeKit.ca, appID: ExchangeKit.appleAppID, environment: environment),
                seed: 3
            )
        }
        let other: Environment = own == .production ? .development : .production
        let rig = try ExchangeRig(settings([own, other]))
        var known = device(own)
        _ = try rig.register(known)
        let again = try [device(other), known].map { try rig.send(rig.attestation(of: $0, at: rig.time)).summary }
        #expect(again == ["key-already-bound", "accepted"])
        #expect(try rig.replace(settings([other])) == nil)
        #expect(try rig.send(Self.verification(of: &known)).reason == "key-already-bound")
        #expect(rig.key(known)?.counter == 0)
        #expect(try rig.replace(settings([own])) == nil)
        #expect(try rig.send(Self.verification(of: &known)).verdict == "accepted")
    }

    private static func verification(of device: inout FakeDevice) -> ExchangeRequest {
        device.counter += 1
        return .verifyAssertion(of: device, counter: device.counter)
    }

    @Test(arguments: [1, 10_000])
    func `a restored key serves the assertion after it, in the same batch or the next`(most: Int) throws {
        var (rig, device, artifact) = try Self.orphan()
        let back = try rig.assertion(of: &device, artifact)
        let behind = Self.verification(of: &device)
        let answers = most == 1 ? try [rig.send(back), rig.send(behind)] : try rig.send([back, behind])
        #expect(answers.map(\.verdict) == ["accepted", "accepted"])
        #expect(answers.map(\.counter) == [4, 5])
    }

    @Test func `an assertion before the one that restores its key has an unknown key`() throws {
        var (rig, device, artifact) = try Self.orphan()
        let before = Self.verification(of: &device)
        let back = try rig.assertion(of: &device, artifact)
        #expect(try rig.send([before, back]).map { $0.reason ?? $0.verdict } == ["unknown-key", "accepted"])
    }
}
