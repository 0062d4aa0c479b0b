internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import Settings
internal import Streams
internal import TestKit
internal import Testing

/// A configuration and a capture with every reason that a replay can give: every fault of the lab's devices, and
/// requests, keys, challenges, artifacts and tokens that are wrong in their own ways.
final class EveryReason: ReplayFolder, @unchecked Sendable {
    // Only its initializer changes it.
    private let folder: SimulationFolder
    private(set) var records: [InboundRecord] = []
    let configuration: Configuration
    let rings: KeyRings

    /// Offsets of records with numbers at the ends of their ranges.
    private(set) var extremes: Set<Int64> = []
    private var keys = ""
    private var seed: UInt64 = 100

    var path: String { folder.path }
    var config: String { folder.config }
    static let project = "123456789012"

    init() throws {
        let folder = try SimulationFolder.configured(mostServed: 2)
        self.folder = folder
        let ca = ExchangeKit.ca
        try folder.write(ca.attestationAnchorsPEM, to: "config/anchors/lab-attestation-root.pem")
        try folder.write(ca.receiptAnchorPEM, to: "config/anchors/lab-receipt-root.pem")
        try folder.write(Self.apps, to: "config/apps.json")
        let absent = #"{"kid": "gone", "algorithm": "RS256", "file": "keys/gone.pem", "state": "published"}, "#
        try folder.edit("config/worker.json", #""signingKeys": ["#, #""signingKeys": ["# + absent)
        let loaded = try LoadedConfiguration.load(directory: folder.config, absentKeys: .tolerated)
        (configuration, rings) = (loaded.configuration, loaded.keys.rings)
        addAttestations()
        addAssertions()
        addKeys()
        try addExchanges()
        try addTokens()
        try addCommands()
        addReceipts()
        addRequests()
        addLetters()
        try write(keys, to: "keys.ndjson")
        try write(capture: records)
    }

    private static var apps: String {
        let category = FakeDevice(ExchangeKit.model, seed: 1).category
        let version = DeviceModel.standardBundleVersion
        let members = [
            "plain": "", "other": "",
            "strict": #", "receipt": "require""#,
            "policy": #", "categories": {"allow": [\#(category)], "whenMissing": "refuse"}, "#
                + #""bundleVersions": {"allow": ["\#(version)"], "whenMissing": "refuse"}"#,
            "rollout": #", "rollout": {"mode": "on", "percent": 0}"#,
            "nosession": #", "replayProtection": {"sessionTokens": "refuse"}"#,
            "rate": #", "attestationsPerSecond": 1"#,
            "refusing": #", "unknownKeys": "refuse""#,
            "risk": #", "risk": {"mode": "report"}"#, "served": #", "risk": {"mode": "refuse", "above": 2}"#,
            "debug":
                #", "debugTokens": [\#(debugToken("1", until: "9999-01-01")), \#(debugToken("2", until: "1999-01-01"))]"#,
        ]
        let apps = members.sorted { $0.key < $1.key }.map { name, more in
            let environment = name == "debug" ? "development" : "production"
            return
                #"{"appId": "\#(name)", "appleAppIds": ["\#(ExchangeKit.appleAppID)"], "environments": ["\#(environment)"]\#(more)}"#
        }
        return #"{"projects": [{"number": "\#(project)", "id": "lab", "apps": [\#(apps.joined(separator: ", "))]}]}"#
    }

    /// - Parameter last: the secret's last digit.
    private static func debugSecret(_ last: String) -> String { ExchangeKit.debugSecret.dropLast() + last }

    private static func debugToken(_ last: String, until: String) -> String {
        let hash = SHA256.hash(Array(debugSecret(last).lowercased().utf8)).bytes
        return #"{"sha256": "\#(Hexadecimal.encode(hash))", "name": "\#(last)", "until": "\#(until)T00:00:00Z"}"#
    }

    static func name(_ app: String) -> String { "projects/\(project)/apps/\(app)" }

    // MARK: Records

    func device(_ shape: DeviceShape = .ios27_0_1) -> FakeDevice {
        seed += 1
        return FakeDevice(ca: ExchangeKit.ca, appID: ExchangeKit.appleAppID, shape: shape, seed: seed)
    }

    private func add(
        _ value: [UInt8]?,
        key: [UInt8]? = nil,
        timestamp: Int64? = nil,
        headers: [RecordHeader]? = nil
    ) {
        let offset = Int64(records.count)
        let (id, start) = ("request-\(offset)", ExchangeKit.start)
        var record = RequestRecords.record(value, key: key, offset: offset, id: id, timestamp: start)
        if let timestamp { record.timestamp = timestamp }
        if let headers { record.headers = headers }
        records.append(record)
    }

    private func add(_ request: ExchangeRequest) { add(request.value, key: request.key) }

    private func addAttestation(of device: FakeDevice, app: String = "plain", fault: AttestationFault? = nil) {
        add(.verifyAttestation(of: device, resource: Self.name(app), fault: fault))
    }

    private func addAssertion(
        of device: FakeDevice,
        counter: UInt32 = 1,
        app: String = "plain",
        fault: AssertionFault? = nil
    ) { add(.verifyAssertion(of: device, counter: counter, resource: Self.name(app), fault: fault)) }

    private func addAttestations() {
        for fault in AttestationFault.allCases {
            let isMac = !fault.applies(to: .ios27_0_1)
            let app = fault == .receiptMissing ? "strict" : fault.needsPolicy ? "policy" : "plain"
            addAttestation(of: device(isMac ? .macos27_0 : .ios27_0_1), app: app, fault: fault)
        }
        for fault in ReceiptFault.allCases {
            add(.verifyAttestation(of: device(), resource: Self.name("strict"), receiptFault: fault))
        }
    }

    private func addAssertions() {
        for app in ["plain", "policy"] {
            let device = device()
            addAttestation(of: device, app: app)
            for fault in AssertionFault.allCases where fault.needsPolicy == (app == "policy") {
                addAssertion(of: device, counter: 7, app: app, fault: fault)
            }
        }
    }

    private func addKeys() {
        let (device, resource) = (device(), Self.name("plain"))
        addAttestation(of: device)
        addAttestation(of: device)
        add(.verifyAttestation(of: device, hash: [UInt8](repeating: 3, count: 32), at: 1, resource: resource))
        addAttestation(of: device, app: "other")
        for counter: UInt32 in [5, 5, 4] { addAssertion(of: device, counter: counter) }
        addAssertion(of: device, counter: 9, app: "other")
        let stranger = self.device()
        addAssertion(of: stranger)
        add(.plain(.verifyAssertion, [1, 2, 3], of: stranger, resource: resource))
        let unusable = self.device()
        let id = String(decoding: unusable.keyID.recordKey, as: UTF8.self)
        keys +=
            #"{"keyId":"\#(id)","publicKey":"BAEC","appleAppId":"\#(ExchangeKit.appleAppID)","#
            + #""environment":"production","counter":0}"# + "\n"
        addAssertion(of: unusable)
    }

    // MARK: The exchange

    func challenge(_ app: String = "plain", age: Int64 = 1000) throws -> [UInt8] {
        let key = try #require(rings.challenges.active)
        seed += 1
        let random = Array(SHA256.hash([UInt8(truncatingIfNeeded: seed)]).bytes.prefix(ChallengeKey.randomBytes))
        let issued = EvaluationTime(milliseconds: ExchangeKit.start + Int64(records.count) - age)
        return key.seal(app: Self.name(app), issuedAt: issued, random: random)
    }

    private func artifact(
        _ device: FakeDevice,
        app: String = "plain",
        _ environment: AppAttest.Environment = .production
    ) throws -> [UInt8] {
        try #require(rings.sealing.active).seal(
            Artifact(
                publicKey: device.publicKey,
                app: Self.name(app),
                appleAppID: ExchangeKit.appleAppID,
                environment: environment,
                registeredAt: EvaluationTime(milliseconds: ExchangeKit.start - 1000)
            )
        )
    }

    private func addExchanges() throws {
        func attest(_ device: FakeDevice, _ challenge: [UInt8], app: String = "plain") {
            add(.attestation(of: device, challenge: challenge, resource: Self.name(app)))
        }
        attest(device(), try challenge("rollout"), app: "rollout")
        for last in ["1", "2", "3"] { add(.debug(Self.debugSecret(last), resource: Self.name("debug"))) }
        add(.debug("ci", resource: Self.name("debug")))
        add(.debug(Self.debugSecret("1"), resource: Self.name("plain")))
        let known = device()
        let used = try challenge()
        attest(known, used)
        attest(known, used)
        for wrong in [
            try challenge("other"), try challenge(age: 300_000), try challenge(age: -400_000), [1, 2, 3],
            Array(try challenge().dropLast()) + [0],
        ] { attest(device(), wrong) }
        // The first byte of every sealed challenge, and a key that no list names.
        attest(device(), [1] + [UInt8](repeating: 9, count: ChallengeKey.byteCount - 1))
        var asserting = known
        let good = try artifact(known)
        func assert(_ device: inout FakeDevice, _ artifact: [UInt8], _ app: String, fault: AssertionFault? = nil) throws
        {
            let (challenge, resource) = (try challenge(app), Self.name(app))
            add(.assertion(of: &device, artifact: artifact, challenge: challenge, resource: resource, fault: fault))
        }
        for artifact in [
            [7], Array(good.dropLast()) + [good[good.count - 1] ^ 1], try artifact(known, app: "other"),
            try artifact(known, .development), Array(good[..<33] + [9, 9, 9, 9] + good[37...]),
        ] { try assert(&asserting, artifact, "plain") }
        for fault in [AssertionFault.signatureFlipped, nil] { try assert(&asserting, good, "plain", fault: fault) }
        // No record attests these two keys: the one is restored from its artifact, the other not.
        for app in ["plain", "refusing"] {
            var lost = device()
            let artifact = try artifact(lost, app: app)
            try assert(&lost, artifact, app)
        }
        add(.challenge(Self.name("plain")))
    }

    private func addTokens() throws {
        let key = try #require(rings.tokens.active(.rs256))
        func verify(_ times: TokenTimes, app: String = "plain", by key: TokenKey) throws {
            let registered = try #require(configuration.registry.find(resource: Self.name(app)))
            let template = TokenTemplate(
                subject: registered.appID,
                projectNumber: registered.projectNumber,
                projectID: registered.projectID,
                key: key
            )
            seed += 1
            let id = TokenIDs(app: registered.name, subject: registered.appID).id(
                requestID: "token",
                valueDigest: SHA256.hash([UInt8(truncatingIfNeeded: seed)]),
                keyID: device().keyID
            )
            let token = String(decoding: template.mint(times, id: id) ?? [], as: UTF8.self)
            add(.verification(of: token, project: "projects/\(EveryReason.project)"))
        }
        func times(life: Int64, age: Int64 = 2) -> TokenTimes {
            let issued = ExchangeKit.start / 1000 - age
            return TokenTimes(issuedAt: issued, expiresAt: issued + life)
        }
        for age in [2, 900, -900] as [Int64] { try verify(times(life: 300, age: age), by: key) }
        try verify(times(life: 700), by: key)
        try verify(times(life: 3600), app: "nosession", by: key)
        for times in Self.extremeTimes {
            extremes.insert(Int64(records.count))
            try verify(times, by: key)
        }
        // A foreign key, an absent one, and one that no list names.
        for kid in [key.kid, "gone", "unknown"] { try verify(times(life: 300), by: ExchangeKit.rs256(kid)) }
        add(.verification(of: "no token", project: "projects/\(Self.project)", key: [1]))
    }

    /// Signed by the worker's own key, and beyond all calendars.
    private static let extremeTimes = [Int64.min, -1 << 62, -1, 0].flatMap { issued in
        [Int64.max, 1 << 62, 1 << 53, Int64.max / 1000, Int64.max / 1000 + 1]
            .map { TokenTimes(issuedAt: issued, expiresAt: $0) }
    }

    /// Answers of Apple's, in an order that the worker does not take, without a metric, and to an app that keeps none;
    /// then a device whose metric its app does not serve.
    private func addReceipts() {
        func answer(_ device: FakeDevice, _ age: Int64 = 0, app: String = "risk", metric: String = "3") {
            let made = EvaluationTime(milliseconds: ExchangeKit.start - age)
            let first = device.receipt(.receipt, clientDataHash: ExchangeKit.clientDataHash, at: made)
            guard let sent = ReceiptContent(unverified: first) else { return }
            var facts = ReceiptFacts(refreshing: sent, environment: .production, metric: 1, at: made)
            facts.riskMetric = Array(metric.utf8)
            add(.receipt(ExchangeKit.ca.receipt(facts), of: device, resource: Self.name(app)))
        }
        let (device, broker) = (device(), device())
        addAttestation(of: device, app: "risk")
        answer(device, metric: "many")
        answer(device)
        answer(device, 500)
        answer(device, app: "plain")
        addAttestation(of: broker, app: "served")
        answer(broker, app: "served")
        addAssertion(of: broker, app: "served")
    }

    /// An operator's commands, and copies and forgeries of them.
    private func addCommands() throws {
        let device = device()
        addAttestation(of: device)
        func command(_ verb: OperatorCommand.Action, age: Int64 = 0, on partition: Int32? = nil) -> OperatorCommand {
            let time = ExchangeKit.start + Int64(records.count) - age
            let seed = UInt8(truncatingIfNeeded: records.count)
            return .sample(verb, .key(device.keyID), at: time, seed: seed, on: partition)
        }
        let ban = try ExchangeRequest.command(command(.ban), rings)
        add(ban)
        addAssertion(of: device)
        add(ban)
        add(try .command(command(.unban, age: 900_000), rings))
        add(try .command(command(.unban, age: -400_000), rings))
        add(try .command(command(.unban, on: 1), rings))
        let forged = try #require(OperatorKeys(try ExchangeKit.keys(sealing: [99])).active)
        add(try .command(command(.unban), rings, with: forged))
        addAssertion(of: device)
        add(try .command(command(.forget), rings))
        addAssertion(of: device)
        add(ban.value)
    }

    private func addRequests() {
        let path = "v1/" + Self.name("plain")
        let texts = [
            #"{"path":"\#(path):verifyAssertion"}"#, #"{"path":"\#(path):verifyAssertion","body":[]}"#,
            #"{"path":"\#(path):verifyAssertion","body":{},"body":{}}"#,
            #"{"path":"\#(path):verifyAssertion?key=1","body":{}}"#, #"{"path":"v3/x:y","body":{}}"#,
            #"{"path":"\#(path):verifyAppCheckToken","body":{}}"#,
            #"{"path":"\#(path):verifyAttestation","body":{"keyId":"AAAA"}}"#,
            #"{"path":"\#(path):generateAppAttestChallenge","body":[]}"#,
            #"{"path":"v1/projects/\#(Self.project):verifyAppCheckToken","body":{"appCheckToken":1}}"#,
            #"{"path":"\#(path):exchangeAppAttestAssertion","body":{"artifact":"AQ==","assertion":"AQ=="}}"#,
            #"{"path":"\#(path):exchangeAppAttestAssertion","body":{"artifact":"?"}}"#,
            #"{"path":"\#(path):exchangeDebugToken","body":{}}"#, #"{"path":"\#(path):refresh","body":{}}"#,
            #"{"path":"v1/projects/\#(Self.project)/apps/none:verifyAssertion","body":{}}"#,
            #"{"path":"v1/oauthClients/none:exchangeAppAttestAssertion","body":{}}"#,
            #"{"path":"v1/projects/none:verifyAppCheckToken","body":{}}"#,
            #"{"path":"v1/projects/\#(Self.project):exchangeAppAttestAttestation","body":{}}"#,
            #"{"path":"\#(path):verifyAssertion","body":\#(String(repeating: "[", count: 90))"#
                + "\(String(repeating: "]", count: 90))}",
        ]
        for text in texts { add(Array(text.utf8)) }
        let (device, resource) = (device(), Self.name("plain"))
        let made = EvaluationTime(milliseconds: ExchangeKit.start - 1000)
        let object = device.attest(clientDataHash: ExchangeKit.clientDataHash, at: made)
        for count in [31, 33] {
            let hash = [UInt8](repeating: 1, count: count)
            add(.plain(.verifyAttestation, object, of: device, hash: hash, resource: resource))
        }
        let request = ExchangeRequest.plain(.verifyAttestation, object, of: device, resource: resource)
        add(request.value)
        add(request.value, key: Array("another".utf8))
        for time in [-1, .max, .max - 1, 1 << 62, InboundRecord.timestamps.upperBound + 1] {
            extremes.insert(Int64(records.count))
            add(request.value, key: request.key, timestamp: time)
        }
    }

    private func addLetters() {
        add(nil)
        add([UInt8](repeating: 0x20, count: 70_000))
        for header in [("request-id", ""), ("x", String(repeating: "x", count: 9000))] {
            add(Array("{}".utf8), headers: [RecordHeader(header.0, header.1)])
        }
        for text in ["{", "{}", #"{"path": 1}"#] { add(Array(text.utf8)) }
        add([0xFF])
    }
}
