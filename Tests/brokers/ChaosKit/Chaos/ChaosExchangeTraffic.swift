internal import AppAttest
internal import AppCheck
internal import Broker
internal import Crypto
package import DeviceLab
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
        var attestation: PublishRecord
        /// The last request.
        var last: PublishRecord
        /// The last assertion's.
        var challenge: [UInt8]?
    }

    private enum Kind {
        case challenge, assertion, check, challengeAgain, tokenAgain, lastOnceMore, anyOnceMore, attestationAgain
        case reattestation
    }

    /// Of a hundred.
    private static let shares: KeyValuePairs<Kind, UInt64> = [
        .challenge: 8, .assertion: 40, .check: 22, .challengeAgain: 8, .tokenAgain: 8, .lastOnceMore: 6,
        .anyOnceMore: 5, .attestationAgain: 2, .reattestation: 1,
    ]
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
    private var recent: [PublishRecord] = []

    package init(_ keys: ChaosKeys, ca: LabCA, _ settings: ChaosSettings) {
        (self.keys, self.ca, seed, devices) = (keys, ca, settings.seed, settings.exchangeDevices)
        challengeLife = Int64(settings.challengeSeconds) * 1000
        random = SeededRandom(seed: settings.seed ^ 0xE8C4_A26E_E8C4_A26E)
    }

    /// - Parameter clock: the devices' time, in milliseconds since 1970.
    func next(clock: Int64) -> PublishRecord {
        made += 1
        let time = EvaluationTime(milliseconds: clock)
        let isNew = members.isEmpty || (members.count < devices && random.next() % 4 == 0)
        let request = isNew ? join(time) : request(draw(), time)
        if recent.count < Self.kept { recent.append(request) } else { recent[made % Self.kept] = request }
        return request
    }

    /// A call that only moves a partition's stream time on.
    static func closing(_ partition: Int32) -> PublishRecord {
        let id = RecordHeader("request-id", "closing-\(partition)")
        return PublishRecord(key: nil, value: challengeCall, headers: [id], partition: partition)
    }

    private func draw() -> Kind {
        var number = random.next() % 100
        for (kind, share) in Self.shares {
            if number < share { return kind }
            number -= share
        }
        return .assertion
    }

    private func request(_ kind: Kind, _ time: EvaluationTime) -> PublishRecord {
        let member = Int(random.next() % UInt64(members.count))
        switch kind {
        case .challenge: return named(nil, Self.challengeCall)
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

    private func named(_ key: [UInt8]?, _ value: [UInt8]) -> PublishRecord {
        PublishRecord(key: key, value: value, headers: [RecordHeader("request-id", "exchange-\(seed)-\(made)")])
    }
}

// MARK: - Requests

extension ChaosExchangeTraffic {
    /// A new device attests.
    private func join(_ time: EvaluationTime) -> PublishRecord {
        let shape = Self.shapes[members.count % Self.shapes.count]
        let model = DeviceModel(ca: ca, appID: ChaosKeys.appleAppID, shape: shape)
        let device = FakeDevice(model, seed: random.next())
        let request = attestation(device, time)
        let artifact = keys.sealing.seal(
            Artifact(
                publicKey: device.publicKey,
                app: ChaosKeys.app,
                appleAppID: ChaosKeys.appleAppID,
                environment: device.environment,
                registeredAt: time
            )
        )
        members.append(Member(device: device, artifact: artifact, attestation: request, last: request))
        return request
    }

    private func attestation(_ device: FakeDevice, _ time: EvaluationTime) -> PublishRecord {
        let challenge = challenge(time)
        let object = device.attest(clientDataHash: SHA256.hash(challenge).bytes, at: time)
        let value = call(
            "exchangeAppAttestAttestation",
            ["key_id": device.keyID.bytes, "attestation_statement": object, "challenge": challenge]
        )
        return named(device.keyID.recordKey, value)
    }

    private func assertion(_ member: Int, _ challenge: [UInt8]) -> PublishRecord {
        let artifact = members[member].artifact
        let object = members[member].device.assert(clientDataHash: SHA256.hash(artifact + challenge).bytes)
        let value = call(
            "exchangeAppAttestAssertion",
            ["artifact": artifact, "assertion": object, "challenge": challenge]
        )
        members[member].challenge = challenge
        members[member].last = named(members[member].device.keyID.recordKey, value)
        return members[member].last
    }

    /// A challenge that has some of its life left; one in twenty has none.
    private func challenge(_ time: EvaluationTime) -> [UInt8] {
        let isOver = random.next() % 20 == 0
        let age = isOver ? challengeLife : Int64(random.next() % UInt64(max(1, challengeLife * 5 / 6)))
        let issuedAt = EvaluationTime(milliseconds: time.milliseconds - age)
        let bytes = random.bytes(ChallengeKey.randomBytes)
        return keys.challenges.seal(app: ChaosKeys.app, issuedAt: issuedAt, random: bytes)
    }

    /// Half of them have 5 to 25 seconds left.
    private func newToken(_ time: EvaluationTime) -> (id: String, text: [UInt8]) {
        let id = "chaos-\(seed)-\(random.next())"
        let left = random.next() % 2 == 0 ? 5 + Int64(random.next() % 20) : TokenClaims.limitedUseSeconds
        let end = time.milliseconds / 1000 + left
        let claims = TokenClaims(
            subject: ChaosKeys.appID,
            projectNumber: ChaosKeys.projectNumber,
            projectID: ChaosKeys.projectID,
            issuedAt: end - TokenClaims.limitedUseSeconds,
            expiresAt: end,
            id: id
        )
        let token = (id, TokenMinter.mint(claims, with: keys.tokens))
        if tokens.count < Self.kept { tokens.append(token) } else { tokens[made % Self.kept] = token }
        return token
    }

    /// By the project's id or by its number: the token is the same.
    private func check(_ token: (id: String, text: [UInt8])) -> PublishRecord {
        var body = StockBody()
        body.add("app_check_token", text: token.text)
        let project = random.next() % 2 == 0 ? ChaosKeys.projectID : ChaosKeys.projectNumber
        let path = "v1beta/projects/\(project):verifyAppCheckToken"
        return named(Array(token.id.utf8), ExchangeRequest.value(path, body: body.bytes(using: &random)))
    }

    private static var challengeCall: [UInt8] { ExchangeRequest.challenge(ChaosKeys.resource).value }

    private func call(_ verb: String, _ members: KeyValuePairs<String, [UInt8]>) -> [UInt8] {
        let body = StockBody(members, limitedUse: random.next() % 2 == 0)
        return ExchangeRequest.value("v1/\(ChaosKeys.resource):\(verb)", body: body.bytes(using: &random))
    }
}
