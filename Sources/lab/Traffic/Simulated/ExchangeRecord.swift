internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab

/// Makes the request of a simulated step, as the stock SDK and the Admin SDKs write it.
struct ExchangeRecord {
    let plan: SimulationPlan
    let seals: ExchangeSeals
    let simulated: SimulatedStep
    let device: FakeDevice

    /// An app of no configuration.
    private static let otherApp = "projects/0/apps/another"

    private var app: RegisteredApp { plan.app.registered }
    private var step: FleetStep { simulated.step }
    /// The record whose challenge, token or hash this one repeats, else its own index.
    private var origin: Int { simulated.repeats ?? step.index }
    private var originTime: EvaluationTime { simulated.repeats.map { plan.fleet.step($0).time } ?? step.time }

    /// A request that lacks the bytes of its device object.
    struct Draft {
        /// No bytes where the request has no object.
        let object: UnfinishedObject
        /// The record's key, nil for a challenge call, and its value, given the object.
        let request: (_ object: [UInt8]) -> (key: [UInt8]?, value: [UInt8])
    }

    func draft() -> Draft {
        let verb = simulated.verb
        switch verb.content {
        case .nothing: return Draft(nil, call(resource, body: nil))
        case .appCheckToken:
            let (id, token) = token()
            var body = StockBody()
            body.add("app_check_token", text: token)
            return Draft(Array(id.utf8), call(project, version: "v1beta", body: body))
        case .attestation: return verb.isExchange ? attestation() : verification()
        case .assertion: return verb.isExchange ? assertion() : verification()
        case .receipt: return receipt()
        case .debugToken: preconditionFailure("no device simulates it")
        }
    }

    // MARK: Bodies

    private func attestation() -> Draft {
        let challenge = challenge()
        return exchange(attestationObject(SHA256.hash(challenge).bytes)) { object in
            ["key_id": device.keyID.bytes, "attestation_statement": object, "challenge": challenge]
        }
    }

    private func assertion() -> Draft {
        let (challenge, artifact) = (challenge(), artifact())
        return exchange(assertionObject(SHA256.hash(artifact + challenge).bytes)) { object in
            ["artifact": artifact, "assertion": object, "challenge": challenge]
        }
    }

    /// - Parameter members: of the body, given the object.
    private func exchange(
        _ object: UnfinishedObject,
        _ members: @escaping (_ object: [UInt8]) -> KeyValuePairs<String, [UInt8]>
    ) -> Draft {
        Draft(object: object) { object in
            (device.keyID.recordKey, call(resource, body: StockBody(members(object), limitedUse: isLimitedUse)))
        }
    }

    /// Ours: no SDK writes it.
    private func verification() -> Draft {
        let hash = SHA256.hash(Array("simulated client data".utf8) + random(.challenge, 32)).bytes
        let isAttestation = simulated.verb.bringsAttestation
        let name = isAttestation ? "attestation_statement" : "assertion"
        return Draft(object: isAttestation ? attestationObject(hash) : assertionObject(hash)) { object in
            let body = StockBody([name: object, "key_id": device.keyID.bytes, "client_data_hash": hash])
            return (device.keyID.recordKey, call(plan.app.name, body: body))
        }
    }

    /// Apple's answer, as who refreshes receipts sends it.
    private func receipt() -> Draft {
        let hash = SHA256.hash(Array("simulated receipt".utf8) + random(.challenge, 32)).bytes
        let metric = plan.fleet.keysOnHardware(of: step.device)
        let receipt = device.receipt(metric: metric, clientDataHash: hash, at: step.time)
        let body = StockBody(["key_id": device.keyID.bytes, "receipt": receipt])
        return Draft(device.keyID.recordKey, call(plan.app.name, body: body))
    }

    private func attestationObject(_ clientDataHash: [UInt8]) -> UnfinishedObject {
        var fault: AttestationFault?
        if case .object(.attestation(let of))? = simulated.fault { fault = of }
        return device.unfinishedAttestation(clientDataHash: clientDataHash, at: step.time, fault: fault)
    }

    private func assertionObject(_ clientDataHash: [UInt8]) -> UnfinishedObject {
        var fault: AssertionFault?
        if case .object(.assertion(let of))? = simulated.fault { fault = of }
        return device.unfinishedAssertion(clientDataHash: clientDataHash, counter: simulated.counter, fault: fault)
    }

    private func call(_ resource: String, version: String = "v1", body: StockBody?) -> [UInt8] {
        var random = plan.generator(.order, origin)
        let path = "/\(version)/\(resource):\(simulated.verb.rawValue)"
        return StockCall.record(path: path, body: body?.bytes(using: &random))
    }

    // MARK: Names and secrets

    private var has: ExchangeFault? {
        if case .exchange(let fault)? = simulated.fault { fault } else { nil }
    }

    private func random(_ purpose: SimulationPlan.Purpose, _ count: Int) -> [UInt8] {
        var random = plan.generator(purpose, origin)
        return random.bytes(count)
    }

    /// Devices belong to the app itself or to one of its OAuth clients, as Google Sign-In's do.
    private var oauthClientID: String? {
        var random = plan.generator(.resource, step.device)
        let choice = Int(random.next() % UInt64(app.oauthClientIDs.count + 1))
        return choice == 0 ? nil : app.oauthClientIDs[choice - 1]
    }

    private var projectName: String {
        let name = app.projectID ?? app.projectNumber
        return has == .unknownApp && simulated.verb.resource == .project ? name + "-unknown" : name
    }

    private var project: String { "projects/\(projectName)" }

    private var resource: String {
        let unknown = has == .unknownApp ? "-unknown" : ""
        if let oauthClientID { return StockClient.resource(oauthClientID: oauthClientID + unknown) }
        return StockClient.resource(projectID: projectName, appID: app.appID + unknown)
    }

    /// Whether a limited-use token is asked for: by one in four, and by all of Google Sign-In's.
    private var isLimitedUse: Bool {
        var random = plan.generator(.limitedUse, origin)
        return oauthClientID != nil || random.next() % 4 == 0
    }

    private func challenge() -> [UInt8] {
        let age = has == .challengeExpired ? plan.challengeLife ?? 0 : 0
        let issuedAt = EvaluationTime(milliseconds: ExchangeTimes.issue(at: originTime).milliseconds - age)
        let owner = has == .challengeOfOtherApp ? Self.otherApp : app.name
        let bytes = random(.challenge, ChallengeKey.randomBytes)
        let challenge = seals.challenge(app: owner, issuedAt: issuedAt, random: bytes)
        return has == .challengeAltered ? Self.altered(challenge) : challenge
    }

    private func artifact() -> [UInt8] {
        let artifact = seals.artifact(
            Artifact(
                publicKey: device.publicKey,
                app: has == .artifactOfOtherApp ? Self.otherApp : app.name,
                appleAppID: device.appID,
                environment: device.environment,
                // When the device attested.
                registeredAt: plan.fleet.step(step.device).time
            )
        )
        return has == .artifactAltered ? Self.altered(artifact) : artifact
    }

    private static func altered(_ bytes: [UInt8]) -> [UInt8] { bytes.dropLast() + [bytes[bytes.count - 1] ^ 1] }

    /// The `jti`, which is the record's key, and the JWT.
    private func token() -> (id: String, text: [UInt8]) {
        let subject = oauthClientID ?? app.appID
        let derived = TokenIDs(app: app.name, subject: subject).id(
            requestID: "simulated-\(plan.fleet.plan.seed)-\(origin)",
            valueDigest: SHA256.hash([]),
            keyID: device.keyID
        )
        let id = String(decoding: derived.text, as: UTF8.self)
        var times = ExchangeTimes.token(at: originTime)
        let life = times.expiresAt - times.issuedAt
        if has == .tokenExpired { times = TokenTimes(issuedAt: times.issuedAt - life, expiresAt: times.issuedAt) }
        // No token of the worker has this life.
        if has == .tokenOfOddLife { times = TokenTimes(issuedAt: times.issuedAt, expiresAt: times.expiresAt + 1) }
        let claims = TokenClaims(
            subject: subject,
            projectNumber: has == .tokenOfOtherProject ? "0" : app.projectNumber,
            projectID: has == .tokenOfOtherProject ? "another" : app.projectID,
            issuedAt: times.issuedAt,
            expiresAt: times.expiresAt,
            id: id
        )
        let token = seals.token(claims, app.tokens.algorithm)
        return (id, has == .tokenAltered ? Self.resigned(token) : token)
    }

    /// Changes the first character of the signature.
    private static func resigned(_ token: [UInt8]) -> [UInt8] {
        var token = token
        guard let dot = token.lastIndex(of: UInt8(ascii: ".")) else { return token }
        token[dot + 1] = token[dot + 1] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return token
    }
}

extension ExchangeRecord.Draft {
    /// A request without an object.
    fileprivate init(_ key: [UInt8]?, _ value: [UInt8]) {
        self.init(object: .finished([])) { _ in (key, value) }
    }
}
