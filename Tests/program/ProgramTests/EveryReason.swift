internal import AppAttest
internal import AppCheck
internal import BrokerKit
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import JSON
internal import Pipeline
internal import Settings
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Lab

/// A configuration and a capture with every reason that a replay can give: every fault of the lab's devices, and
/// requests, keys, challenges, artifacts and tokens that are wrong in their own ways.
final class EveryReason: FileFolder, @unchecked Sendable {
    // Only its initializer changes it.
    let path = FileManager.default.temporaryDirectory.path + "/reasons-" + UUID().uuidString
    private(set) var records: [InboundRecord] = []
    let configuration: Configuration
    let rings: KeyRings

    /// Offsets of records with numbers at the ends of their ranges.
    private(set) var extremes: Set<Int64> = []
    private var keys = ""
    private var seed: UInt64 = 100

    var config: String { path + "/config" }
    static let project = "123456789012"

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let config = path + "/config"
        try NewConfiguration.write(to: config)
        let ca = ExchangeKit.ca
        try Data(ca.attestationAnchorsPEM).write(to: URL(filePath: config + "/anchors/lab-attestation-root.pem"))
        try Data(ca.receiptAnchorPEM).write(to: URL(filePath: config + "/anchors/lab-receipt-root.pem"))
        try Data(Self.apps.utf8).write(to: URL(filePath: config + "/apps.json"))
        try Self.listAbsentKey(config + "/worker.json")
        let loaded = try LoadedConfiguration.load(directory: config, absentKeys: .tolerated)
        (configuration, rings) = (loaded.configuration, loaded.keys.rings)
        addAttestations()
        addAssertions()
        try addKeys()
        try addExchanges()
        try addTokens()
        try addCommands()
        addReceipts()
        addRequests()
        addLetters()
        try write(keys, to: "keys.ndjson")
        var capture: [UInt8] = []
        for record in records { CaptureCodec.encode(record, into: &capture) }
        try Data(capture).write(to: URL(filePath: path + "/capture.ndjson"))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    private static func listAbsentKey(_ path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let entry = #"{"kid": "gone", "algorithm": "RS256", "file": "keys/gone.pem", "state": "published"}, "#
        let list = try #require(text.range(of: #""signingKeys":\s*\["#, options: .regularExpression))
        let listed = text.replacingCharacters(in: list.upperBound..<list.upperBound, with: entry)
        let topics = try #require(listed.range(of: #""ledger":"#))
        let whole = listed.replacingCharacters(
            in: topics.lowerBound..<topics.lowerBound,
            with: #""receipts": "appattest.receipts", "#
        )
        try Data(whole.utf8).write(to: URL(filePath: path))
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
        let digits = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return #"{"sha256": "\#(digits)", "name": "\#(last)", "until": "\#(until)T00:00:00Z"}"#
    }

    static func path(_ app: String) -> String { "v1/" + name(app) }
    static func name(_ app: String) -> String { "projects/\(project)/apps/\(app)" }

    // MARK: Records

    func device(_ shape: DeviceShape = .ios27_0_1) -> FakeDevice {
        seed += 1
        return FakeDevice(ca: ExchangeKit.ca, appID: ExchangeKit.appleAppID, shape: shape, seed: seed)
    }

    func add(
        _ value: [UInt8]?,
        key: [UInt8]?,
        timestamp: Int64? = nil,
        headers: [RecordHeader]? = nil
    ) {
        let offset = Int64(records.count)
        records.append(
            InboundRecord(
                topic: "appattest.requests",
                partition: 0,
                offset: offset,
                timestamp: timestamp ?? ExchangeKit.start + offset,
                key: key,
                value: value,
                headers: headers ?? [RecordHeader("request-id", "request-\(offset)")]
            )
        )
    }

    private func add(_ request: ExchangeRequest) { add(request.value, key: request.key) }

    private func addObject(
        _ verb: Verb,
        _ object: [UInt8],
        of device: FakeDevice,
        hash: [UInt8] = EveryReason.hash,
        app: String = "plain"
    ) {
        let value = RequestRecords.value(
            verb: verb,
            object: object,
            keyID: device.keyID,
            clientDataHash: hash,
            path: Self.path(app)
        )
        add(value, key: device.keyID.recordKey)
    }

    static let hash = SHA256.hash(Array("what the app sent".utf8)).bytes
    private static let made = EvaluationTime(milliseconds: ExchangeKit.start - 1000)

    private func addAttestations() {
        for fault in AttestationFault.allCases {
            let isMac = !fault.applies(to: .ios27_0_1)
            let device = device(isMac ? .macos27_0 : .ios27_0_1)
            let object = device.attest(clientDataHash: Self.hash, at: Self.made, fault: fault)
            let app = fault == .receiptMissing ? "strict" : fault.needsPolicy ? "policy" : "plain"
            addObject(.verifyAttestation, object, of: device, app: app)
        }
        for fault in ReceiptFault.allCases {
            let device = device()
            let object = device.attest(clientDataHash: Self.hash, at: Self.made, receiptFault: fault)
            addObject(.verifyAttestation, object, of: device, app: "strict")
        }
    }

    private func addAssertions() {
        for app in ["plain", "policy"] {
            let device = device()
            addObject(.verifyAttestation, device.attest(clientDataHash: Self.hash, at: Self.made), of: device, app: app)
            for fault in AssertionFault.allCases where fault.needsPolicy == (app == "policy") {
                let object = device.assertion(clientDataHash: Self.hash, counter: 7, fault: fault)
                addObject(.verifyAssertion, object, of: device, app: app)
            }
        }
    }

    private func addKeys() throws {
        let device = device()
        let attestation = device.attest(clientDataHash: Self.hash, at: Self.made)
        addObject(.verifyAttestation, attestation, of: device)
        addObject(.verifyAttestation, attestation, of: device)
        let older = device.attest(clientDataHash: [UInt8](repeating: 3, count: 32), at: EvaluationTime(milliseconds: 1))
        addObject(.verifyAttestation, older, of: device, hash: [UInt8](repeating: 3, count: 32))
        addObject(.verifyAttestation, attestation, of: device, app: "other")
        for counter: UInt32 in [5, 5, 4] {
            addObject(.verifyAssertion, device.assertion(clientDataHash: Self.hash, counter: counter), of: device)
        }
        let next = device.assertion(clientDataHash: Self.hash, counter: 9)
        addObject(.verifyAssertion, next, of: device, app: "other")
        let stranger = self.device()
        addObject(.verifyAssertion, stranger.assertion(clientDataHash: Self.hash, counter: 1), of: stranger)
        addObject(.verifyAssertion, [1, 2, 3], of: stranger)
        let unusable = self.device()
        let id = String(decoding: unusable.keyID.recordKey, as: UTF8.self)
        keys +=
            #"{"keyId":"\#(id)","publicKey":"BAEC","appleAppId":"\#(ExchangeKit.appleAppID)","#
            + #""environment":"production","counter":0}"# + "\n"
        addObject(.verifyAssertion, unusable.assertion(clientDataHash: Self.hash, counter: 1), of: unusable)
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
                registeredAt: Self.made
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
        attest(device(), [ChallengeKey.firstByte] + [UInt8](repeating: 9, count: ChallengeKey.byteCount - 1))
        var asserting = known
        let good = try artifact(known)
        for artifact in [
            [7], Array(good.dropLast()) + [good[good.count - 1] ^ 1], try artifact(known, app: "other"),
            try artifact(known, .development), Array(good[..<33] + [9, 9, 9, 9] + good[37...]),
        ] {
            add(
                .assertion(of: &asserting, artifact: artifact, challenge: try challenge(), resource: Self.name("plain"))
            )
        }
        for fault in [AssertionFault.signatureFlipped, nil] {
            let challenge = try challenge()
            let resource = Self.name("plain")
            add(.assertion(of: &asserting, artifact: good, challenge: challenge, resource: resource, fault: fault))
        }
        // No record attests these two keys: the one is restored from its artifact, the other not.
        for app in ["plain", "refusing"] {
            var lost = device()
            let artifact = try artifact(lost, app: app)
            let challenge = try challenge(app)
            add(.assertion(of: &lost, artifact: artifact, challenge: challenge, resource: Self.name(app)))
        }
        add(.challenge(Self.name("plain")))
    }

    private func addTokens() throws {
        let key = try #require(rings.tokens.active(.rs256))
        func token(_ app: String, life: Int64, age: Int64 = 2, key: TokenKey) throws -> String {
            let issued = ExchangeKit.start / 1000 - age
            return try token(app, TokenTimes(issuedAt: issued, expiresAt: issued + life), key: key)
        }
        func token(_ app: String, _ times: TokenTimes, key: TokenKey) throws -> String {
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
            return String(decoding: template.mint(times, id: id) ?? [], as: UTF8.self)
        }
        func verify(_ token: String, project: String = "projects/\(EveryReason.project)") {
            add(.verification(of: token, project: project))
        }
        let foreign = try TokenKey(kid: key.kid, algorithm: .rs256, key: try #require(ExchangeKit.rsa))
        let absent = try TokenKey(kid: "gone", algorithm: .rs256, key: try #require(ExchangeKit.rsa))
        let unknown = try TokenKey(kid: "unknown", algorithm: .rs256, key: try #require(ExchangeKit.rsa))
        verify(try token("plain", life: 300, key: key))
        verify(try token("plain", life: 300, age: 900, key: key))
        verify(try token("plain", life: 300, age: -900, key: key))
        verify(try token("plain", life: 700, key: key))
        verify(try token("nosession", life: 3600, key: key))
        for times in Self.extremeTimes {
            extremes.insert(Int64(records.count))
            verify(try token("plain", times, key: key))
        }
        for key in [foreign, absent, unknown] { verify(try token("plain", life: 300, key: key)) }
        add(.verification(of: "no token", project: "projects/\(Self.project)", key: [1]))
    }

    /// Signed by the worker's own key, and beyond all calendars.
    private static let extremeTimes = [Int64.min, -1 << 62, -1, 0].flatMap { issued in
        [Int64.max, 1 << 62, 1 << 53, Int64.max / 1000, Int64.max / 1000 + 1]
            .map { TokenTimes(issuedAt: issued, expiresAt: $0) }
    }

    /// Answers of Apple's, in an order that the worker does not take, without a metric, and to an app that keeps none.
    private func addReceipts() {
        let device = device()
        let object = device.attest(clientDataHash: Self.hash, at: Self.made)
        addObject(.verifyAttestation, object, of: device, app: "risk")
        func answer(_ age: Int64, app: String = "risk", metric: String = "3") {
            let made = EvaluationTime(milliseconds: ExchangeKit.start - age)
            let first = device.receipt(.receipt, clientDataHash: Self.hash, at: made)
            guard let sent = ReceiptContent(unverified: first) else { return }
            var facts = ReceiptFacts(refreshing: sent, environment: .production, metric: 1, at: made)
            facts.riskMetric = Array(metric.utf8)
            add(.receipt(ExchangeKit.ca.receipt(facts), of: device, resource: Self.name(app)))
        }
        answer(0, metric: "many")
        answer(0)
        answer(500)
        answer(0, app: "plain")
        addRisk()
    }

    /// A device whose metric its app does not serve.
    private func addRisk() {
        let broker = device()
        addObject(
            .verifyAttestation,
            broker.attest(clientDataHash: Self.hash, at: Self.made),
            of: broker,
            app: "served"
        )
        let first = broker.receipt(.receipt, clientDataHash: Self.hash, at: Self.made)
        guard let sent = ReceiptContent(unverified: first) else { return }
        let now = EvaluationTime(milliseconds: ExchangeKit.start)
        let facts = ReceiptFacts(refreshing: sent, environment: .production, metric: 3, at: now)
        add(.receipt(ExchangeKit.ca.receipt(facts), of: broker, resource: Self.name("served")))
        let object = broker.assertion(clientDataHash: Self.hash, counter: 1)
        addObject(.verifyAssertion, object, of: broker, app: "served")
    }

    /// An operator's commands, and copies and forgeries of them.
    private func addCommands() throws {
        let device = device()
        addObject(.verifyAttestation, device.attest(clientDataHash: Self.hash, at: Self.made), of: device)
        let assertion = device.assertion(clientDataHash: Self.hash, counter: 1)
        func command(_ verb: OperatorCommand.Action, age: Int64 = 0, on partition: Int32? = nil) -> OperatorCommand {
            let time = ExchangeKit.start + Int64(records.count) - age
            let seed = UInt8(truncatingIfNeeded: records.count)
            return .sample(verb, .key(device.keyID), at: time, seed: seed, on: partition)
        }
        let ban = try ExchangeRequest.command(command(.ban), rings)
        add(ban)
        addObject(.verifyAssertion, assertion, of: device)
        add(ban)
        add(try .command(command(.unban, age: 900_000), rings))
        add(try .command(command(.unban, age: -400_000), rings))
        add(try .command(command(.unban, on: 1), rings))
        let forged = try #require(OperatorKeys(try ExchangeKit.keys(sealing: [99])).active)
        add(try .command(command(.unban), rings, with: forged))
        addObject(.verifyAssertion, assertion, of: device)
        add(try .command(command(.forget), rings))
        addObject(.verifyAssertion, assertion, of: device)
        add(ban.value, key: nil)
    }

    private func addRequests() {
        let path = Self.path("plain")
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
        for text in texts { add(Array(text.utf8), key: nil) }
        let device = device()
        let object = device.attest(clientDataHash: Self.hash, at: Self.made)
        for count in [31, 33] {
            addObject(.verifyAttestation, object, of: device, hash: Array(repeating: 1, count: count))
        }
        let value = RequestRecords.value(
            verb: .verifyAttestation,
            object: object,
            keyID: device.keyID,
            clientDataHash: Self.hash,
            path: path
        )
        add(value, key: nil)
        add(value, key: Array("another".utf8))
        for time in [-1, .max, .max - 1, 1 << 62, InboundRecord.timestamps.upperBound + 1] {
            extremes.insert(Int64(records.count))
            add(value, key: device.keyID.recordKey, timestamp: time)
        }
    }

    private func addLetters() {
        add(nil, key: nil)
        add([UInt8](repeating: 0x20, count: 70_000), key: nil)
        add(Array("{}".utf8), key: nil, headers: [RecordHeader("request-id", "")])
        add(Array("{}".utf8), key: nil, headers: [RecordHeader("x", String(repeating: "x", count: 9000))])
        add(Array("{".utf8), key: nil)
        add([0xFF], key: nil)
        add(Array("{}".utf8), key: nil)
        add(Array(#"{"path": 1}"#.utf8), key: nil)
    }
}

extension ChallengeKey {
    /// The first byte of every sealed challenge.
    fileprivate static let firstByte: UInt8 = 1
}
