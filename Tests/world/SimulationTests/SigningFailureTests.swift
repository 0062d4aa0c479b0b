import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// A key inside a token may fail when Admit has moved counters and used up challenges for the tokens that it does not
/// sign.
@Suite("A signing key that fails")
struct SigningFailureTests {
    /// One seed: devices of an app whose key fails, of one whose key never does, and requests without tokens.
    private struct World {
        private var random: SeededRandom
        private let key: UnsteadyKey
        let rig: ExchangeRig
        private var devices: [(device: FakeDevice, artifact: [UInt8], resource: String)] = []
        private(set) var complaints: [String] = []
        private(set) var deferred = 0
        /// Signatures that hung at once.
        private(set) var hung = 0

        init(
            _ seed: UInt64,
            isAtomic: Bool,
            options: BatchLoop.Options = BatchLoop.Options(),
            sabotage: UnsteadyKey.Sabotage? = nil
        ) throws {
            random = SeededRandom(seed: seed)
            key = UnsteadyKey(try #require(ExchangeKit.rsa), seed: seed, sabotage: sabotage)
            let tokens = [try ExchangeKit.rs256(key: SigningKey(key)), try ExchangeKit.es256()]
            var settings = try ExchangeKit.settings(keys: ExchangeKit.keys(tokens: tokens)) {
                $0.tokens.sharedSessionTokens = seed.isMultiple(of: 3)
            }
            var apps = settings.registry.apps
            apps[1].tokens.algorithm = .es256
            settings.registry = try Registry(apps: apps)
            rig = try ExchangeRig(settings, seed: seed, options: options)
            rig.streams.isAtomic = isAtomic
            for number in 1...6 as ClosedRange<UInt64> {
                let device = FakeDevice(ExchangeKit.model, seed: number)
                let resource = number < 5 ? ExchangeKit.resource : ExchangeKit.otherResource
                devices.append((device, try rig.register(device, resource: resource), resource))
            }
        }

        mutating func run(rounds: Int) throws {
            for round in 1...rounds {
                let chances = [0, 0.2, 1]
                key.set(
                    failures: chances.randomElement(using: &random) ?? 1,
                    hangs: chances.randomElement(using: &random) ?? 1,
                    isWell: false
                )
                rig.streams.mostRecords = Int.random(in: 1...8, using: &random)
                let requests = try requests(round)
                let before = devices.map { rig.key($0.device)?.counter }
                let answers = try rig.send(requests)
                for (place, answer) in answers.enumerated() { judge(answer, place, before[place]) }
                if chance(0.3) { try rig.restart() }
                revive()
                try again(requests, answers)
            }
        }

        /// What hangs returns late, or not before the next round, and changes nothing.
        private mutating func revive() {
            if key.stuck > 0 { complaints.append("a lane waits for a signature that never returns") }
            if key.left > UnsteadyKey.mostCalls { complaints.append("\(key.left) threads are left to the token") }
            hung = max(hung, key.left)
            key.set(failures: 0)
            if chance(0.3) { key.release() }
            key.revive()
            if key.isAvailable != (key.left < UnsteadyKey.mostCalls) {
                complaints.append("\(key.left) threads are left to the token, which was tried: \(key.isAvailable)")
            }
            if key.isAvailable { return }
            key.release()
            key.revive()
        }

        private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

        private mutating func requests(_ round: Int) throws -> [ExchangeRequest] {
            var requests: [ExchangeRequest] = []
            for index in devices.indices {
                let (resource, artifact) = (devices[index].resource, devices[index].artifact)
                let (isAgain, isLimited) = (chance(0.2), chance(0.5))
                let challenge = try rig.challenge(resource)
                let request =
                    isAgain
                    ? ExchangeRequest.attestation(
                        of: devices[index].device,
                        challenge: challenge,
                        resource: resource,
                        at: rig.time
                    )
                    : .assertion(
                        of: &devices[index].device,
                        artifact: artifact,
                        challenge: challenge,
                        limitedUse: isLimited,
                        resource: resource
                    )
                requests.append(request.with(id: "\(round)-\(index)"))
            }
            rig.time += 1_000
            return requests
        }

        private mutating func judge(_ answer: ExchangeAnswers, _ place: Int, _ counter: UInt32?) {
            let name = "device \(place)"
            switch answer.summary {
            case "accepted":
                if answer.tokenText == nil { complaints.append("\(name) is accepted without a token") }
            case "no-active-key":
                deferred += 1
                if devices[place].resource != ExchangeKit.resource { complaints.append("\(name) has another key") }
                if answer.answer != nil || answer.event != nil { complaints.append("\(name) has more than a result") }
                if rig.key(devices[place].device)?.counter != counter {
                    complaints.append("\(name) was deferred, and its counter moved")
                }
            default: complaints.append("\(name): \(answer.summary ?? "nothing")")
            }
        }

        /// Whoever was deferred asks again, by the same name and by another; the others get the same token again.
        private mutating func again(_ requests: [ExchangeRequest], _ first: [ExchangeAnswers]) throws {
            for (place, request) in requests.enumerated() {
                let wasDeferred = first[place].summary == "no-active-key"
                let isRenamed = wasDeferred && chance(0.5)
                let answer = try rig.send(isRenamed ? request.with(id: "\(request.id ?? "")-again") : request)
                if answer.summary != "accepted" || answer.tokenText == nil {
                    complaints.append("device \(place) asks again: \(answer.summary ?? "nothing")")
                }
                if !wasDeferred, !answer.isDuplicate { complaints.append("device \(place) is accepted twice") }
            }
        }
    }

    @Test(arguments: UnsteadyKey.Sabotage.allCases)
    func `a signature that is waited for forever, or with threads without end, is found`(
        bug: UnsteadyKey.Sabotage
    ) throws {
        let found = try (1...8 as ClosedRange<UInt64>).contains { seed in
            var world = try World(seed, isAtomic: true, sabotage: bug)
            try world.run(rounds: 8)
            return !world.complaints.isEmpty
        }
        #expect(found)
    }

    @Test(arguments: [true, false])
    func `no counter moves and no challenge is used up for a token that no key has signed`(isAtomic: Bool) throws {
        var (deferred, hung) = (0, 0)
        for seed in 1...24 as ClosedRange<UInt64> {
            var world = try World(seed, isAtomic: isAtomic)
            try world.run(rounds: 5)
            #expect(world.complaints.isEmpty, "seed \(seed): \(world.complaints.prefix(3))")
            deferred += world.deferred
            hung = max(hung, world.hung)
        }
        #expect(deferred > 100 && hung == UnsteadyKey.mostCalls)
    }

    @Test func `a batch goes back once for each kind of key, and is counted once`() throws {
        let rsa = UnsteadyKey(try #require(ExchangeKit.rsa))
        let p256 = UnsteadyKey(try #require(ExchangeKit.p256))
        let tokens = [
            try ExchangeKit.rs256(key: SigningKey(rsa)),
            try TokenKey(kid: "e", algorithm: .es256, key: SigningKey(p256)),
        ]
        var settings = try ExchangeKit.settings(keys: ExchangeKit.keys(tokens: tokens))
        var apps = settings.registry.apps
        apps[1].tokens.algorithm = .es256
        settings.registry = try Registry(apps: apps)
        let rig = try ExchangeRig(settings)
        let resources = [ExchangeKit.resource, ExchangeKit.otherResource]
        let challenges = try resources.map { try rig.challenge($0) }
        let before = rig.loop.tally
        let requests = zip(resources, challenges).enumerated().map { number, pair in
            let device = FakeDevice(ExchangeKit.model, seed: UInt64(20 + number))
            return ExchangeRequest.attestation(of: device, challenge: pair.1, resource: pair.0).with(id: "\(number)")
        }
        for key in [rsa, p256] { key.set(failures: 1) }
        #expect(try rig.send(requests).map(\.summary) == ["no-active-key", "no-active-key"])
        #expect(rig.loop.tally.deferred - before.deferred == 2 && rig.loop.tally.aborts == 0)
        for key in [rsa, p256] { key.set(failures: 0) }
        rsa.revive()
        #expect(try rig.send(requests).map(\.summary) == ["accepted", "no-active-key"])
        p256.revive()
        let last = try rig.send(requests)
        #expect(last.map(\.summary) == ["accepted", "accepted"] && last.map(\.isDuplicate) == [true, false])
    }
}
