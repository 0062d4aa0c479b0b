package import AppAttest
internal import AppCheck
internal import Crypto
package import DeviceLab
package import Pipeline
package import Streams
internal import TestKit

/// A random capture with the ledger that it meets: every verb, several apps, keys that are known, lost or imported
/// without a point, artifacts and challenges good and bad, refused claims, and repetitions of all of it.
///
/// Few devices and few different objects, so that records meet: that is what makes one record's answer depend on
/// another.
package struct RandomCapture {
    package let seed: UInt64
    package private(set) var records: [InboundRecord] = []
    package private(set) var ledger: [StoredRecord] = []
    package let settings: PipelineSettings
    package let now: EvaluationTime?

    private var random: SeededRandom
    private let devices: [FakeDevice]
    private var challenges: [[UInt8]] = []
    private var tokens: [(value: [UInt8], key: [UInt8])] = []
    private var times: [Int32: Int64] = [:]
    private var offsets: [Int32: Int64] = [:]

    static let partitions: Int32 = 2
    package static let ca = LabCA(seed: 1, signer: OracleSigner())
    private static let resources = [
        ExchangeKit.resource, ExchangeKit.otherResource,
        "projects/\(ExchangeKit.otherProject)/apps/1:210987654321:ios:00",
        "oauthClients/\(ExchangeKit.client)",
    ]

    package init(seed: UInt64, records count: Int = 36) throws {
        self.seed = seed
        // Not a multiple of the generator's own step: seeds side by side would be one stream.
        random = SeededRandom(seed: (seed &+ 1) &* 0xD134_2543_DE82_EF95)
        let sharesLedger = seed % 2 == 0
        var policy = SeededRandom(seed: seed ^ 0x5DEE_CE66)
        settings = try Self.settings(sharesLedger: sharesLedger, &policy)
        now = sharesLedger ? nil : EvaluationTime(milliseconds: ExchangeKit.start + 120_000)
        let first = seed % 64
        devices = (0..<4 as Range<UInt64>).map {
            FakeDevice(ca: Self.ca, appID: ExchangeKit.appleAppID, seed: first + $0)
        }
        try makeChallenges()
        try makeTokens()
        for _ in 0..<count { add(try chosen()) }
        makeLedger()
    }

    private static func settings(sharesLedger: Bool, _ random: inout SeededRandom) throws -> PipelineSettings {
        var (restores, rate, refusesReceipt) = (random.below(4) > 0, random.below(4), random.below(3) == 0)
        if sharesLedger { (restores, rate) = (true, 0) }
        var settings = try ExchangeKit.settings(
            keys: ExchangeKit.keys(tokens: [ExchangeKit.rs256()], sealing: [1, 3]),
            partitions: partitions
        ) { app in
            app.unknownKeys = restores ? .restore : .refuse
            app.attestationsPerSecond = rate
            app.expectations.receipt = refusesReceipt ? .require : .report
            app.tokens.sharedSessionTokens = refusesReceipt
        }
        settings.exchange.randomBytes = nil
        settings.sharesLedger = sharesLedger
        if sharesLedger { settings.partitionOfKey = nil }
        return settings
    }
}

// MARK: - What is drawn from

extension RandomCapture {
    private mutating func makeChallenges() throws {
        guard let key = settings.exchange.keys.challenges.active else { throw ExchangeKit.MissingKey() }
        let life = settings.exchange.challenges.ttlMilliseconds
        for (number, age) in [1000, 900, 800, life - 1, life, 10 * life, -10 * life].enumerated() {
            let app = settings.registry.apps[number == 2 ? 1 : 0].name
            let issued = EvaluationTime(milliseconds: ExchangeKit.start - age)
            let random = [UInt8](repeating: UInt8(number), count: ChallengeKey.randomBytes)
            challenges.append(key.seal(app: app, issuedAt: issued, random: random))
        }
        var forged = challenges[0]
        forged[40] ^= 1
        challenges.append(forged)
    }

    private mutating func makeTokens() throws {
        let key = try ExchangeKit.rs256()
        let app = settings.registry.apps[0]
        let template = TokenTemplate(
            subject: app.appID,
            projectNumber: app.projectNumber,
            projectID: app.projectID,
            key: key
        )
        let ids = TokenIDs(app: app.name, subject: app.appID)
        let start = ExchangeKit.start / 1000
        for (number, life) in [300, 300, 3600, 300].enumerated() {
            let issued = start - Int64(number == 3 ? 295 : 2)
            let times = TokenTimes(issuedAt: issued, expiresAt: issued + Int64(life))
            let digest = SHA256.hash([UInt8(number)])
            let id = ids.id(requestID: "token", valueDigest: digest, keyID: devices[0].keyID)
            let token = String(decoding: template.mint(times, id: id) ?? [], as: UTF8.self)
            let request = ExchangeRequest.verification(of: token)
            tokens.append((request.value, request.key ?? []))
        }
    }

    private mutating func makeLedger() {
        for (number, device) in devices.enumerated() {
            let kind = number == 0 ? 3 : random.below(8)
            guard kind < 5 else { continue }
            var record = KeyRecord.sample(
                kind < 3 ? nil : device.publicKey,
                counter: UInt32(random.below(4)),
                app: kind == 1 || kind == 4 ? settings.registry.apps[random.below(2)].name : nil,
                registeredAt: ExchangeKit.start - 86_400_000
            )
            if record.publicKey == nil { record.unusableKey = [4, 4, 4] }
            if random.below(3) == 0 { record.lastRequest = lastRequest(of: device) }
            let (key, value) = LedgerCodec.encode(.key(device.keyID, record))
            let partition = settings.ledgerPartition(partition(of: device.keyID.recordKey))
            ledger.append(StoredRecord(partition: partition, key: key, value: value))
        }
    }

    /// One of the capture's own requests, as if it had been accepted before.
    private mutating func lastRequest(of device: FakeDevice) -> LastRequest? {
        let own = records.filter { $0.key == device.keyID.recordKey }
        guard !own.isEmpty else { return nil }
        let record = own[random.below(own.count)]
        let id = String(decoding: record.headers.first?.value ?? [], as: UTF8.self)
        let iat = UInt32(ExchangeKit.start / 1000)
        return LastRequest(
            id: ExactText(id),
            valueDigest: SHA256.hash(record.value ?? []),
            issuedAt: iat,
            expiresAt: iat + 300
        )
    }

    private func partition(of key: [UInt8]) -> Int32 { ExchangeKit.partition(of: key, Self.partitions) }
}

// MARK: - Records

extension RandomCapture {
    private mutating func add(_ request: ExchangeRequest) {
        let partition = request.partition ?? request.key.map(partition(of:)) ?? 0
        let offset = offsets[partition, default: 0]
        offsets[partition] = offset + 1 + Int64(random.below(2))
        // Mostly in order, sometimes far ahead (challenges expire) or behind.
        let step = [0, 1, 40, 700, 700, -300, 2500, random.below(12) == 0 ? 299_000 : 3][random.below(8)]
        let time = times[partition, default: ExchangeKit.start] + Int64(step)
        times[partition] = max(time, ExchangeKit.start - 5000)
        let id = request.id ?? "request-\(records.count)"
        records.append(
            InboundRecord(
                topic: "appattest.requests",
                partition: partition,
                offset: offset,
                timestamp: time,
                key: request.key,
                value: request.value,
                headers: [RecordHeader("request-id", id)] + request.headers
            )
        )
    }

    private mutating func chosen() throws -> ExchangeRequest {
        if !records.isEmpty, random.below(5) == 0 { return repeated() }
        if random.below(12) == 0 { return try command() }
        let request = device(by: random.below(16))
        return random.below(6) == 0 ? request.carrying("fid-\(random.below(2))") : request
    }

    private mutating func command() throws -> ExchangeRequest {
        let (key, partition) = (device().keyID, Int32(random.below(Int(Self.partitions))))
        let installation = BanID.installation("fid-\(random.below(2))")
        let issued = ExchangeKit.start + (random.below(8) == 0 ? -900_000 : 0)
        let seed = UInt8(truncatingIfNeeded: records.count)
        func made(
            _ verb: OperatorCommand.Action,
            _ subject: OperatorCommand.Subject,
            _ partition: Int32? = nil
        ) -> OperatorCommand { .sample(verb, subject, at: issued, seed: seed, on: partition) }
        var command =
            switch random.below(8) {
            case 0...1: made(.ban, .key(key))
            case 2...3: made(.unban, .key(key))
            case 4...5: made(.forget, .key(key))
            case 6: made(.ban, .installation(installation), partition)
            default: made(.unban, .installation(installation), partition)
            }
        if command.action == .forget { command.keepsBan = random.below(2) == 0 }
        if command.action == .ban, seed.isMultiple(of: 2) {
            command.until = EvaluationTime(milliseconds: ExchangeKit.start + 500 * Int64(1 + seed % 16))
        }
        let keys = settings.exchange.keys
        var request = try ExchangeRequest.command(command, keys, with: keys.sealing.keys[random.below(2)].operatorKey)
        if random.below(8) == 0 { request.partition = partition }
        if random.below(8) == 0 { request.key = nil }
        return request
    }

    private mutating func device(by dice: Int) -> ExchangeRequest {
        switch dice {
        case 0...2: return verifiedAttestation()
        case 3...6: return verifiedAssertion()
        case 7...8: return exchangedAttestation()
        case 9...12: return exchangedAssertion()
        case 13: return .challenge(resource())
        case 14:
            let token = tokens[random.below(tokens.count)]
            return ExchangeRequest(token.value, key: token.key)
        default: return ExchangeRequest(junk(), key: device().keyID.recordKey)
        }
    }

    private mutating func repeated() -> ExchangeRequest {
        let old = records[random.below(records.count)]
        var request = ExchangeRequest(old.value ?? [], key: old.key)
        (request.partition, request.headers) = (old.partition, Array(old.headers.dropFirst()))
        if random.below(3) > 0 {
            request.id = old.headers.first.map { String(decoding: $0.value ?? [], as: UTF8.self) }
        }
        return request
    }

    private mutating func device() -> FakeDevice { devices[random.below(devices.count)] }

    private mutating func resource() -> String {
        random.below(4) > 0 ? Self.resources[0] : Self.resources[random.below(4)]
    }

    private mutating func verifiedAttestation() -> ExchangeRequest {
        let device = device()
        let hash = [UInt8](repeating: UInt8(random.below(2)), count: 32)
        let fault = attestationFault()
        return .verifyAttestation(of: device, hash: hash, resource: resource(), fault: fault)
    }

    private mutating func verifiedAssertion() -> ExchangeRequest {
        let device = device()
        let hash = [UInt8](repeating: UInt8(random.below(2)), count: 32)
        let (counter, fault) = (UInt32(1 + random.below(12)), assertionFault())
        return .verifyAssertion(of: device, counter: counter, hash: hash, resource: resource(), fault: fault)
    }

    private mutating func exchangedAttestation() -> ExchangeRequest {
        .attestation(
            of: device(),
            challenge: challenge(),
            limitedUse: random.below(2) == 0,
            resource: resource(),
            fault: attestationFault()
        )
    }

    private mutating func exchangedAssertion() -> ExchangeRequest {
        var device = device()
        device.counter = UInt32(random.below(12))
        return .assertion(
            of: &device,
            artifact: artifact(of: device),
            challenge: challenge(),
            limitedUse: random.below(2) == 0,
            resource: resource(),
            fault: assertionFault()
        )
    }

    private mutating func challenge() -> [UInt8] {
        challenges[random.below(3) > 0 ? random.below(2) : random.below(challenges.count)]
    }

    private mutating func artifact(of device: FakeDevice) -> [UInt8] {
        let app = settings.registry.apps[random.below(6) == 0 ? 1 : 0]
        let plain = Artifact(
            publicKey: device.publicKey,
            app: app.name,
            appleAppID: ExchangeKit.appleAppID,
            environment: random.below(8) == 0 ? .development : .production,
            registeredAt: EvaluationTime(milliseconds: ExchangeKit.start - 172_800_000)
        )
        let keys = settings.exchange.keys.sealing.keys
        var artifact = keys[random.below(keys.count)].seal(plain)
        if random.below(8) == 0 { artifact[artifact.count - 1] ^= 1 }
        return artifact
    }

    private mutating func attestationFault() -> AttestationFault? {
        let faults: [AttestationFault] = [
            .nonceOfOtherClientData, .leafByOtherKey, .garbage, .counterOne, .categoryAsText, .leafKeyOfOtherDevice,
        ]
        return random.below(3) == 0 ? faults[random.below(faults.count)] : nil
    }

    private mutating func assertionFault() -> AssertionFault? {
        let faults: [AssertionFault] = [.garbage, .signatureFlipped, .otherAppID, .byOtherKey, .signatureEmpty]
        return random.below(4) == 0 ? faults[random.below(faults.count)] : nil
    }

    private mutating func junk() -> [UInt8] {
        let path = "v1/\(Self.resources[0]):"
        let texts = [
            "{", "{}", "{\"path\":\"\(path)exchangeAppAttestAssertion\",\"body\":{}}",
            "{\"path\":\"\(path)exchangeDebugToken\",\"body\":{}}",
            "{\"path\":\"v1/projects/0/apps/0:verifyAssertion\"}",
            "{\"path\":\"\(path)exchangeAppAttestAttestation?x\",\"body\":{\"keyId\":\"AA\"}}",
        ]
        return Array(texts[random.below(texts.count)].utf8)
    }
}
