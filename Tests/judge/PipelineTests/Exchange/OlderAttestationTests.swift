import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Pipeline
import SimulationKit
import TestKit
import Testing

/// A key's attestations in the order A1 A2 A1: a kept copy of the first one must not bring it back.
@Suite struct OlderAttestationTests {
    enum Mode: String, CaseIterable, CustomTestStringConvertible {
        case live, replay, external, unchecked
        var testDescription: String { rawValue }

        func rig() throws -> ExchangeRig {
            var settings = try ExchangeKit.settings()
            switch self {
            case .live: break
            case .replay: (settings.partitionOfKey, settings.sharesLedger) = (nil, true)
            case .external: settings.exchange.challenges.mode = .external
            case .unchecked: settings.partitionOfKey = nil
            }
            return try ExchangeRig(settings, isLive: self != .replay)
        }
    }

    private static let device = FakeDevice(ExchangeKit.model, seed: 3)
    private static let issued = ExchangeKit.start - 10_000

    /// verifyAttestation of an attestation that was issued so many milliseconds later than the others.
    private static func request(_ number: UInt8, after milliseconds: Int64) -> ExchangeRequest {
        .verifyAttestation(of: device, hash: [UInt8](repeating: number, count: 32), at: issued + milliseconds)
    }

    @Test(arguments: Mode.allCases)
    func `an attestation issued before the last accepted one is consumed, in every mode`(mode: Mode) throws {
        let rig = try mode.rig()
        let (first, second) = (Self.request(1, after: 0), Self.request(2, after: 5000))
        #expect(try rig.send([first, second, first]).map(\.summary) == ["accepted", "accepted", "challenge-consumed"])
        // Later on, and by a worker that knows the ledger topic only.
        #expect(try rig.send(first).summary == "challenge-consumed")
        try rig.restart()
        #expect(try rig.send(first).summary == "challenge-consumed")
        #expect(try rig.send(Self.request(3, after: 6000)).summary == "accepted")
        #expect(try rig.send(second).summary == "challenge-consumed")
    }

    /// Leaves' dates have seconds, their serial numbers milliseconds.
    @Test(arguments: [(-1, "challenge-consumed"), (0, "accepted"), (1, "accepted"), (-2000, "challenge-consumed")])
    func `within a second the serial number decides`(difference: Int64, outcome: String) throws {
        let rig = try Mode.live.rig()
        // The middle of a second.
        let middle = 500 - Self.issued % 1000
        #expect(try rig.send(Self.request(1, after: middle)).summary == "accepted")
        #expect(try rig.send(Self.request(2, after: middle + difference)).summary == outcome)
    }

    @Test func `an exchange of an older attestation is refused, valid challenge or not`() throws {
        let rig = try Mode.external.rig()
        let old = ExchangeRequest.attestation(of: Self.device, challenge: [1])
        #expect(try rig.send(old).summary == "accepted")
        #expect(try rig.send(Self.request(2, after: 9500)).summary == "accepted")
        let answers = try rig.send(old)
        #expect(answers.summary == "challenge-consumed" && answers.token == nil)
    }

    @Test func `the last accepted request is answered again as before, a refused attestation leaves no trace`() throws {
        let rig = try Mode.live.rig()
        let second = Self.request(2, after: 5000).with(id: "r2")
        _ = try rig.send([Self.request(1, after: 0), second])
        let record = rig.key(Self.device)
        #expect(record?.issued?.serial == Self.issued + 5000)
        #expect(try rig.send(Self.request(1, after: 0)).summary == "challenge-consumed")
        #expect(rig.key(Self.device) == record)
        #expect(try rig.send(second).isDuplicate)
    }

    @Test func `a key without an issue time in the ledger is attested again, and is bound from then on`() throws {
        let rig = try Mode.live.rig()
        let record = KeyRecord.sample(Self.device.publicKey, counter: 7)
        let (key, value) = LedgerCodec.encode(.key(Self.device.keyID, record))
        rig.streams.addLedger(key: key, value: value)
        try rig.restart()
        #expect(try rig.send(Self.request(2, after: 5000)).summary == "accepted")
        #expect(rig.key(Self.device)?.counter == 7)
        #expect(try rig.send(Self.request(1, after: 0)).summary == "challenge-consumed")
    }
}
