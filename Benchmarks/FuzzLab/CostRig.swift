internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import Pipeline
internal import Streams

/// The real pipeline on one thread, for what one record costs it: from poll to commit, in CPU time of the thread.
final class CostRig {
    /// Records of one batch, a grain of Verify: accepted and refused ones share the fixed costs alike.
    static let copies = 32
    static let start: Int64 = 1_795_000_000_000

    let settings: PipelineSettings
    let device: FakeDevice
    /// One whose key has a greater metric than the app serves.
    let broker: FakeDevice
    let artifact: [UInt8]
    let challenge: [UInt8]
    let token: [UInt8]
    let tokenID: [UInt8]
    static let debugSecret = Array("6F1B0C39-3E0C-4C58-8F2E-0B6A4D0F1C11".utf8)
    private let lanes: InlineLanes
    private let ledger: PartitionLedger

    struct NoKey: Error {}

    init(seed: UInt64, engine: CostEngine) throws {
        let ca = LabCA(seed: seed)
        device = FakeDevice(ca: ca, appID: Pool.appIDs[0], seed: seed)
        broker = FakeDevice(device.model, seed: seed &+ 1)
        let rsa = try TokenKey(kid: "cost", algorithm: .rs256, key: SigningKey.generate(.rsa))
        let secret = { (number: UInt8) in SHA256.hash([number]).bytes }
        var settings = PipelineSettings(registry: try Self.registry(device))
        settings.exchange.keys = KeyRings(
            tokens: try TokenKeyRing([rsa]),
            sealing: try SecretRing([NamedSecret(id: "s", secret: Secret(secret(1)))]),
            challenges: try SecretRing([NamedSecret(id: "c", secret: Secret(secret(2)))])
        )
        settings.sharesLedger = true
        settings.hasReceipts = true
        self.settings = settings
        lanes = InlineLanes(
            scratch: LaneScratch(verifier: ObjectVerifier(anchors: try ca.anchors()), engine: engine.make())
        )
        let app = settings.registry.apps[0]
        let time = EvaluationTime(milliseconds: Self.start)
        guard let sealing = settings.exchange.keys.sealing.active, let key = settings.exchange.keys.challenges.active
        else { throw NoKey() }
        artifact = sealing.seal(
            Artifact(
                publicKey: device.publicKey,
                app: app.name,
                appleAppID: device.appID,
                environment: device.environment,
                registeredAt: time
            )
        )
        challenge = key.seal(app: app.name, issuedAt: time, random: [UInt8](repeating: 7, count: 16))
        let times = TokenTimes(issuedAt: Self.start / 1000 - 1, expiresAt: Self.start / 1000 + 299)
        let id = TokenIDs(app: app.name, subject: app.appID)
            .id(requestID: "cost", valueDigest: SHA256.hash([]), keyID: device.keyID)
        tokenID = id.text
        token =
            TokenTemplate(
                subject: app.appID,
                projectNumber: app.projectNumber,
                projectID: app.projectID,
                key: rsa
            ).mint(times, id: id) ?? []
        ledger = Self.ledger(device, broker, app.name)
    }

    private static func registry(_ device: FakeDevice) throws -> Registry {
        var expectations = device.expectations
        expectations.categories = EntryPolicy(allow: [device.category, 2], whenMissing: .refuse)
        expectations.receipt = .require
        expectations.bundleVersions = EntryPolicy(
            allow: [ExactText(device.bundleVersion), "é", "2"],
            whenMissing: .refuse
        )
        var app = RegisteredApp(
            projectNumber: "123456789012",
            projectID: "contract-test-1",
            appID: "1:123456789012:ios:0123456789abcdef",
            oauthClientIDs: ["client"],
            expectations: expectations
        )
        (app.risk.mode, app.risk.above) = (.refuse, 1)
        if let hash = DebugToken.hash(of: debugSecret) {
            app.debugTokens = [DebugToken(hash: hash, name: "ci", until: EvaluationTime(milliseconds: .max))]
        }
        return try Registry(apps: [app])
    }

    private static func ledger(_ device: FakeDevice, _ broker: FakeDevice, _ app: String) -> PartitionLedger {
        var ledger = PartitionLedger()
        for (each, metric) in [(device, 1), (broker, 2)] as [(FakeDevice, UInt16)] {
            ledger.keys.set(
                each.keyID,
                KeyRecord(
                    publicKey: each.publicKey,
                    counter: 1,
                    app: app,
                    appleAppID: each.appID,
                    environment: each.environment,
                    registeredAt: EvaluationTime(milliseconds: start - 1),
                    risk: RiskMetric(metric, createdAt: UInt32(clamping: start / 1000 - 86_400))
                )
            )
        }
        return ledger
    }

    struct Outcome {
        /// Nanoseconds per record.
        var cost: Double
        /// `accepted`, the reason, or the dead letter's.
        var answer: String
    }

    /// The lowest of `tries` runs, each of ``copies`` records with the same bytes.
    func measure(_ input: CostInput, tries: Int) throws -> Outcome {
        var best = Outcome(cost: .infinity, answer: "")
        for _ in 0..<tries {
            let streams = CostStreams(input, copies: Self.copies)
            let loop = BatchLoop(
                streams: StreamRoles(source: streams, transaction: streams, hasLedgers: true),
                settings: settings,
                lanes: lanes,
                ledgers: [0: ledger],
                post: { $0() },
                wallClock: { nil }
            )
            let begin = Self.threadTime()
            while try loop.tick(waitMilliseconds: 0) != .finished {}
            let cost = Double(Self.threadTime() - begin) / Double(Self.copies)
            if cost < best.cost { best = Outcome(cost: cost, answer: streams.answer) }
        }
        return best
    }

    private static func threadTime() -> Int64 {
        var time = timespec()
        // The clock writes what it is given, and nothing else.
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// One record, before it has a place.
struct CostInput {
    var value: [UInt8]
    var key: [UInt8]?
    var headers: [RecordHeader] = []
    /// What was done to it, for the report.
    var family = "accepted"

    /// Bytes of the record on the wire: a header has two lengths beside its bytes.
    var length: Int { value.count + headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) + 2 } }
}

/// Copies of one record; keeps the last answer.
private final class CostStreams: RequestSource, RecordTransaction {
    private var input: [PolledRecord]
    private(set) var answer = ""

    init(_ input: CostInput, copies: Int) {
        let headers = [RecordHeader("request-id", "cost")] + input.headers
        self.input = (0..<copies).map { offset in
            .record(
                InboundRecord(
                    topic: "cost",
                    partition: 0,
                    offset: Int64(offset),
                    timestamp: CostRig.start,
                    key: input.key,
                    value: input.value,
                    headers: headers
                )
            )
        }
    }

    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        var round = PollRound()
        (round.records, input) = (input, [])
        round.ended = true
        return round
    }

    func write(_ records: [[OutboundRecord]], _ positions: [PartitionPosition], of generation: Generation) {
        // The first copy's answer: those after an accepted one are its duplicates.
        let first = records.joined().first { $0.stream == .results || $0.stream == .deadLetters }
        guard let first else { return answer = "" }
        answer = first.stream == .results ? CostAnswer.read(first.value ?? []) : "dead letter"
    }

    func abort() -> Bool { preconditionFailure("nothing fails here") }
    let member: (any GroupMember)? = nil
    let isAtomic = true
    let timeShare = 0.0
}
