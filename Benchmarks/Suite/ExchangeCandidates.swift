internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import JSON
internal import Pipeline
internal import Streams

/// The App Check exchange on one core, next to the signatures that it cannot do without.
struct ExchangeCandidates {
    private static let resource = "v1/\(Fixtures.appPath)"
    private static let app = Fixtures.appPath

    let fixtures: Fixtures
    let keys: KeyRings
    let signing: SigningKey
    private let algorithm: TokenSettings.Algorithm
    private let seals: [(artifact: [UInt8], challenge: [UInt8])]
    /// Records of one round.
    private let count: Int

    init(_ fixtures: Fixtures, scale: Int, _ algorithm: TokenSettings.Algorithm = .rs256) throws {
        self.fixtures = fixtures
        self.algorithm = algorithm
        count = min(scale * 16, fixtures.devices.count)
        signing = try SigningKey.generate(algorithm == .rs256 ? .rsa : .p256)
        func ring<Key: SecretKey>(_ name: String) throws -> SecretRing<Key> {
            let bytes = SHA256.hash(Array(name.utf8)).bytes
            return try SecretRing([NamedSecret(id: name, secret: Secret(bytes))])
        }
        let (sealing, challenges): (SealingKeyRing, ChallengeKeyRing) = (try ring("a1"), try ring("c1"))
        keys = KeyRings(
            tokens: try TokenKeyRing([TokenKey(kid: "Kx3_Qa", algorithm: algorithm, key: signing)]),
            sealing: sealing,
            challenges: challenges
        )
        guard let sealingKey = sealing.active, let challengeKey = challenges.active else {
            preconditionFailure("both rings have a key")
        }
        let time = fixtures.time
        seals = fixtures.devices.enumerated().map { index, device in
            let artifact = Artifact(
                publicKey: device.publicKey,
                app: Self.app,
                appleAppID: Fixtures.appID,
                environment: .production,
                registeredAt: time
            )
            return (sealingKey.seal(artifact), Self.challenge(challengeKey, of: index, counter: 1, at: time))
        }
    }

    /// A challenge that no other request has: it counts once.
    private static func challenge(
        _ key: ChallengeKey,
        of index: Int,
        counter: UInt32,
        at time: EvaluationTime
    ) -> [UInt8] {
        let random = SHA256.hash(Array("\(index) \(counter)".utf8)).bytes.prefix(ChallengeKey.randomBytes)
        return key.seal(app: app, issuedAt: time, random: Array(random))
    }

    static func es256(_ fixtures: Fixtures, scale: Int) throws -> ExchangeCandidates {
        try ExchangeCandidates(fixtures, scale: scale, .es256)
    }

    /// The first is the baseline: one P-256 verification and one signature.
    func all() throws -> [Candidate] {
        var settings = try settings()
        let (exchanges, watch) = (try exchanges(), SigningLab.watch())
        let name = "exchange assertion, \(algorithm.rawValue)"
        var candidates = [
            signatures(),
            try record("\(name), all by OpenSSL", settings, exchanges, OpenSSLEngine()),
            try record("\(name), \(Self.fastest.rawValue), OpenSSL signs", settings, exchanges, Self.engine(watch)),
        ]
        if let library = try SigningLab.signingLibrary(watch) {
            settings.exchange.signer = TokenSigner(library, keys: [("Kx3_Qa", signing)])
            let text = "\(name), \(Self.fastest.rawValue), \(library.name) signs"
            candidates.append(try record(text, settings, exchanges, Self.engine(watch)))
        }
        if algorithm == .rs256 {
            candidates.append(try record("verifyAssertion, by OpenSSL", settings, plain(), OpenSSLEngine()))
            candidates.append(sealsOpened())
        }
        return candidates
    }

    static var fastest: BatchArithmetic { BatchArithmetic.featureMissingForIFMA == nil ? .ifma : .portable }
    private static func engine(_ watch: EngineWatch) -> BatchEngine { BatchEngine(fastest, watch: watch) }

    private func signatures() -> Candidate {
        let verify = BareVerify(fixtures.bareSamples())
        let sign = BareSign(signing, digests: [SHA256.hash([1])])
        let name = algorithm == .rs256 ? "RSA-2048" : "ES256"
        return Candidate("OpenSSL P-256 verify and \(name) sign, bare") { [count] in
            precondition(verify.run(count) == count && sign.run(count) == count, "valid and signed")
            return count
        }
    }

    /// What the worker itself sealed, without the device's object: artifact opened, challenge authenticated and judged.
    private func sealsOpened() -> Candidate {
        let (keys, seals, time, count) = (keys, seals, fixtures.time, count * 64)
        return Candidate("artifact opened, challenge checked") {
            for index in 0..<count {
                let (artifact, challenge) = seals[index % seals.count]
                guard case .success = keys.sealing.open(artifact),
                    case .success = keys.challenges.open(challenge, app: Self.app, ttl: 300_000, at: time)
                else { preconditionFailure("what was sealed opens") }
            }
            return count
        }
    }

    // MARK: Through the loop

    func settings() throws -> PipelineSettings {
        let registry = try fixtures.registry(TokenSettings(algorithm: algorithm))
        var settings = PipelineSettings(registry: registry, partitionOfKey: { _ in 0 })
        settings.exchange = ExchangeSettings(keys: keys)
        settings.exchange.partitions = 1
        return settings
    }

    /// Every round begins with the same ledger, in which all keys are registered.
    private func record(
        _ name: String,
        _ settings: PipelineSettings,
        _ records: [InboundRecord],
        _ engine: any SignatureEngine
    ) throws -> Candidate {
        let verifier = ObjectVerifier(anchors: fixtures.anchors)
        let scratch = LaneScratch(verifier: verifier, engine: engine)
        let (ledger, time) = (registered(), fixtures.time)
        return Candidate(name) {
            let streams = StageStreams(records.map { .record($0) })
            let loop = BatchLoop(
                streams: StreamRoles(source: streams, transaction: streams, hasLedgers: true),
                settings: settings,
                lanes: InlineLanes(scratch: scratch),
                ledgers: [0: ledger],
                post: { $0() },
                wallClock: { time }
            )
            while (try? loop.tick(waitMilliseconds: 0)) != .finished {}
            precondition(loop.tally.accepted == records.count, "honest requests are accepted")
            return records.count
        }
    }

    func registered() -> PartitionLedger {
        var keys = KeyLedger()
        for device in fixtures.devices { keys.set(device.keyID, fixtures.keyRecord(of: device)) }
        return PartitionLedger(keys: keys)
    }

    private func exchanges() throws -> [InboundRecord] {
        fixtures.devices.prefix(count).enumerated().map { index, device in
            record(exchange(of: index, counter: 1), of: device, index)
        }
    }

    /// A request's value: a device's artifact with an assertion over it and a challenge.
    func exchange(of index: Int, counter: UInt32) -> [UInt8] {
        guard let key = keys.challenges.active else { preconditionFailure("the ring has a key") }
        let challenge = Self.challenge(key, of: index, counter: counter, at: fixtures.time)
        let artifact = seals[index].artifact
        let hash = SHA256.hash(artifact + challenge).bytes
        let object = fixtures.devices[index].assertion(clientDataHash: hash, counter: counter)
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("path", Self.resource + ":exchangeAppAttestAssertion")
        writer.key("body")
        writer.beginObject()
        let members: [(StaticString, [UInt8])] = [
            ("artifact", artifact), ("assertion", object), ("challenge", challenge),
        ]
        for (name, bytes) in members {
            writer.key(name)
            writer.base64(bytes)
        }
        writer.endObject()
        writer.endObject()
        return writer.takeBytes()
    }

    private func plain() -> [InboundRecord] {
        zip(fixtures.devices, fixtures.values).prefix(count).enumerated().map { index, item in
            record(item.1, of: item.0, index)
        }
    }

    func record(_ value: [UInt8], of device: FakeDevice, _ index: Int) -> InboundRecord {
        fixtures.record(value, of: device, index, RecordPlace(partition: 0, offset: Int64(index)))
    }
}
