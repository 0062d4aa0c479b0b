internal import AppAttest
internal import AppCheck
internal import Crypto
package import DeviceLab
internal import Pipeline
internal import Streams
internal import TestKit

/// The exchange's part of a run's requests: challenges, attestations, assertions and checks of limited-use tokens, and
/// among them challenges, tokens and attestations that come once more under another id, and redeliveries.
///
/// All is sealed here with the configuration's own keys, so nothing waits for a worker. Challenges and half of the
/// tokens are nearly over when they are sent: a run of a minute sees them expire. For one thread at a time.
package final class ChaosExchangeTraffic {
    private struct Member {
        var device: FakeDevice
        let artifact: [UInt8]
        var attestation: ChaosRequest
        /// The last request.
        var last: ChaosRequest
        /// The last assertion's.
        var challenge: [UInt8]?
    }

    private enum Kind: CaseIterable {
        case challenge, assertion, check, challengeAgain, tokenAgain, lastOnceMore, anyOnceMore, attestationAgain
        case reattestation

        /// Of a hundred.
        var share: UInt64 {
            switch self {
            case .challenge: 8
            case .assertion: 40
            case .check: 22
            case .challengeAgain, .tokenAgain: 8
            case .lastOnceMore: 6
            case .anyOnceMore: 5
            case .attestationAgain: 2
            case .reattestation: 1
            }
        }
    }

    private static let kept = 4096
    private static let shapes = DeviceShape.allCases

    private let keys: ChaosKeys
    private let ca: LabCA
    private let seed: UInt64
    private let devices: Int
    /// Milliseconds.
    private let challengeLife: Int64
    private var random: SeededRandom
    private var made = 0
    private var members: [Member] = []
    private var tokens: [(id: String, text: [UInt8])] = []
    private var recent: [ChaosRequest] = []

    /// - Parameter challengeSeconds: the configured life of a challenge.
    package init(_ keys: ChaosKeys, ca: LabCA, seed: UInt64, devices: Int, challengeSeconds: Int) {
        (self.keys, self.ca, self.seed, self.devices) = (keys, ca, seed, devices)
        challengeLife = Int64(challengeSeconds) * 1000
        random = SeededRandom(seed: seed ^ 0xE8C4_A26E_E8C4_A26E)
    }

    package convenience init(_ keys: ChaosKeys, ca: LabCA, _ settings: ChaosSettings) {
        self.init(
            keys,
            ca: ca,
            seed: settings.seed,
            devices: settings.exchangeDevices,
            challengeSeconds: settings.challengeSeconds
        )
    }

    /// - Parameter clock: the devices' time, in milliseconds since 1970.
    func next(clock: Int64) -> ChaosRequest {
        made += 1
        let time = EvaluationTime(milliseconds: clock)
        let isNew = members.isEmpty || (members.count < devices && random.next() % 4 == 0)
        let request = isNew ? join(time) : request(draw(), time)
        if recent.count < Self.kept { recent.append(request) } else { recent[made % Self.kept] = request }
        return request
    }

    /// A call that only moves a partition's stream time on.
    static func closing(_ partition: Int32) -> ChaosRequest {
        let id = RecordHeader("request-id", "closing-\(partition)")
        return ChaosRequest(key: nil, value: StockRequest.challenge, headers: [id])
    }

    private func draw() -> Kind {
        var number = random.next() % 100
        for kind in Kind.allCases {
            if number < kind.share { return kind }
            number -= kind.share
        }
        return .assertion
    }

    private func request(_ kind: Kind, _ time: EvaluationTime) -> ChaosRequest {
        let member = Int(random.next() % UInt64(members.count))
        switch kind {
        case .challenge: return named(nil, StockRequest.challenge)
        case .assertion: return assertion(member, challenge(time))
        case .check: return check(newToken(time))
        case .challengeAgain: return assertion(member, members[member].challenge ?? challenge(time))
        case .tokenAgain: return check(tokens.isEmpty ? newToken(time) : tokens[pick(tokens.count)])
        case .lastOnceMore: return members[member].last
        case .anyOnceMore: return recent[pick(recent.count)]
        case .attestationAgain:
            let first = members[member].attestation
            return named(first.key, first.value ?? [])
        case .reattestation:
            members[member].attestation = attestation(members[member].device, time)
            members[member].last = members[member].attestation
            return members[member].last
        }
    }

    private func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private func named(_ key: [UInt8]?, _ value: [UInt8]) -> ChaosRequest {
        ChaosRequest(key: key, value: value, headers: [RecordHeader("request-id", "exchange-\(seed)-\(made)")])
    }
}

// MARK: - Requests

extension ChaosExchangeTraffic {
    /// A new device attests.
    private func join(_ time: EvaluationTime) -> ChaosRequest {
        let shape = Self.shapes[members.count % Self.shapes.count]
        let model = DeviceModel(ca: ca, appID: ChaosKeys.appleAppID, shape: shape)
        let device = FakeDevice(model, seed: random.next())
        let request = attestation(device, time)
        let artifact = keys.artifact(device.publicKey, device.environment, at: time)
        members.append(Member(device: device, artifact: artifact, attestation: request, last: request))
        return request
    }

    private func attestation(_ device: FakeDevice, _ time: EvaluationTime) -> ChaosRequest {
        let challenge = challenge(time)
        let object = device.attest(clientDataHash: SHA256.hash(challenge).bytes, at: time)
        let value = StockRequest.attestation(object, device.keyID, challenge, limitedUse: isLimitedUse, &random)
        return named(device.keyID.recordKey, value)
    }

    private func assertion(_ member: Int, _ challenge: [UInt8]) -> ChaosRequest {
        let artifact = members[member].artifact
        let object = members[member].device.assert(clientDataHash: SHA256.hash(artifact + challenge).bytes)
        let value = StockRequest.assertion(object, artifact, challenge, limitedUse: isLimitedUse, &random)
        members[member].challenge = challenge
        members[member].last = named(members[member].device.keyID.recordKey, value)
        return members[member].last
    }

    private var isLimitedUse: Bool { random.next() % 2 == 0 }

    /// A challenge that has some of its life left; one in twenty has none.
    private func challenge(_ time: EvaluationTime) -> [UInt8] {
        let isOver = random.next() % 20 == 0
        let age = isOver ? challengeLife : Int64(random.next() % UInt64(max(1, challengeLife * 5 / 6)))
        let issuedAt = EvaluationTime(milliseconds: time.milliseconds - age)
        return keys.challenge(issuedAt: issuedAt, random: random.bytes(ChallengeKey.randomBytes))
    }

    /// Half of them have 5 to 25 seconds left.
    private func newToken(_ time: EvaluationTime) -> (id: String, text: [UInt8]) {
        let id = "chaos-\(seed)-\(random.next())"
        let left = random.next() % 2 == 0 ? 5 + Int64(random.next() % 20) : TokenClaims.limitedUseSeconds
        let token = (id, keys.token(id, expiresAt: time.milliseconds / 1000 + left))
        if tokens.count < Self.kept { tokens.append(token) } else { tokens[made % Self.kept] = token }
        return token
    }

    private func check(_ token: (id: String, text: [UInt8])) -> ChaosRequest {
        named(Array(token.id.utf8), StockRequest.check(token.text, &random))
    }
}

/// The exchange's calls as the stock SDK and the Admin SDKs write them.
private enum StockRequest {
    static var challenge: [UInt8] { call("v1/\(ChaosKeys.resource):generateAppAttestChallenge", nil) }

    static func attestation(
        _ object: [UInt8],
        _ keyID: KeyID,
        _ challenge: [UInt8],
        limitedUse: Bool,
        _ random: inout SeededRandom
    ) -> [UInt8] {
        var body = StockBody()
        body.add("key_id", base64: keyID.bytes)
        body.add("attestation_statement", base64: object)
        body.add("challenge", base64: challenge)
        body.add("limited_use", limitedUse)
        return call("v1/\(ChaosKeys.resource):exchangeAppAttestAttestation", body.bytes(using: &random))
    }

    static func assertion(
        _ object: [UInt8],
        _ artifact: [UInt8],
        _ challenge: [UInt8],
        limitedUse: Bool,
        _ random: inout SeededRandom
    ) -> [UInt8] {
        var body = StockBody()
        body.add("artifact", base64: artifact)
        body.add("assertion", base64: object)
        body.add("challenge", base64: challenge)
        body.add("limited_use", limitedUse)
        return call("v1/\(ChaosKeys.resource):exchangeAppAttestAssertion", body.bytes(using: &random))
    }

    /// By the project's id or by its number: the token is the same.
    static func check(_ token: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var body = StockBody()
        body.add("app_check_token", text: token)
        let project = random.next() % 2 == 0 ? ChaosKeys.projectID : ChaosKeys.projectNumber
        return call("v1beta/projects/\(project):verifyAppCheckToken", body.bytes(using: &random))
    }

    private static func call(_ path: String, _ body: [UInt8]?) -> [UInt8] { ExchangeRequest.value(path, body: body) }
}
