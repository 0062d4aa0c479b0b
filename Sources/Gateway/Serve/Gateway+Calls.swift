internal import AppAttest
internal import AppCheck
package import HTTP
internal import JSON
internal import Pipeline
internal import Settings
internal import Threads

extension Gateway {
    /// Answers a call, now or when its answer has come. On the server's thread; never waits.
    package func handle(_ call: HTTPCall, _ responder: any HTTPResponder) {
        let since = world.uptime()
        let rules = state.withLock { $0.rules }
        let asked = VerifyTarget.read(call.target)
        // A proxy may append its client's path, which is not one of ours, however it is spelled.
        guard let target = CallTarget(asked == nil ? call.target : VerifyTarget.path) else {
            return reject(.path, .badRequest, .other, since, responder)
        }
        let arrival = Arrival(
            http: call,
            target: target,
            caller: Caller(call, rules.settings, rules.verifiers),
            rules: rules,
            responder: responder,
            since: since
        )
        if let asked {
            let isTaken = VerifyTarget.isTaken(call) || Endpoint.takes(call.method, Endpoint.read)
            return isTaken ? verify(asked, arrival) : reject(method: Endpoint.read, arrival)
        }
        guard let endpoint = Endpoint(target) else { return reject(.path, .notFound, .other, arrival) }
        guard Endpoint.takes(call.method, endpoint.methods) else { return reject(method: endpoint.methods, arrival) }
        switch endpoint {
        case .healthz: finish(.healthz, GatewayReply.answer(200, Array(#"{"status":"ok"}"#.utf8)), arrival)
        case .keySet: keySet(arrival)
        case .rollout: rollout(arrival)
        case .exchange: post(arrival)
        }
    }

    /// Counts and sends a refusal that leaves no request on a topic.
    func reject(
        _ cause: GatewayCounts.Rejection,
        _ status: Status,
        _ verb: Verb,
        _ since: Int64,
        _ responder: any HTTPResponder
    ) {
        state.withLock { $0.counts.reject(cause) }
        finish(verb, GatewayReply.error(status), since: since, responder)
    }

    func reject(
        _ cause: GatewayCounts.Rejection,
        _ status: Status,
        _ verb: Verb,
        _ arrival: Arrival,
        reason: String? = nil
    ) {
        reject(cause, GatewayReply.error(status, reason: reason), verb, arrival)
    }

    func reject(_ cause: GatewayCounts.Rejection, _ reply: HTTPReply, _ verb: Verb, _ arrival: Arrival) {
        state.withLock { $0.counts.reject(cause) }
        finish(verb, reply, arrival)
    }

    /// - Parameter methods: those that the path takes.
    private func reject(method methods: [String], _ arrival: Arrival) {
        var reply = GatewayReply.error(.methodNotAllowed)
        reply.headers.append(("Allow", methods.joined(separator: ", ")))
        reject(.method, reply, .other, arrival)
    }

    func finish(_ verb: Verb, _ reply: HTTPReply, _ arrival: Arrival) {
        finish(verb, reply, since: arrival.since, arrival.responder)
    }

    /// A name that may only not be listed here yet gets 503: 404 would silence a stock client for a day.
    private func rejectUnknownApp(_ path: ExactText, _ method: Method?, _ verb: Verb, _ arrival: Arrival) {
        let isAwaited = RequestDecoder.isAwaited(path, in: arrival.rules.registry)
        let told = method?.tellsReason == true ? Reason.unknownApp.code : nil
        reject(.app, isAwaited ? .unavailable : .notFound, verb, arrival, reason: isAwaited ? nil : told)
    }

    // MARK: GET

    private func keySet(_ arrival: Arrival) {
        guard let bytes = arrival.rules.keySet else { return reject(.path, .notFound, .jwks, arrival) }
        var reply = GatewayReply.answer(200, bytes)
        // As long as Google's SDKs keep a set.
        reply.headers.append(("Cache-Control", "public, max-age=21600"))
        finish(.jwks, reply, arrival)
    }

    /// `GET …:rollout` with `X-Installation-Id`: whether the device would be admitted, before it asks Apple.
    private func rollout(_ arrival: Arrival) {
        guard isInRate(arrival, .rollout) else { return }
        let path = ExactText(validating: arrival.target.path) ?? ""
        let account = RequestDecoder.account(of: path, in: arrival.rules.registry)
        guard let index = account.app else { return rejectUnknownApp(path, nil, .rollout, arrival) }
        guard let installation = arrival.installationID else {
            return reject(.request, .badRequest, .rollout, arrival)
        }
        guard isAdmitted(arrival, .rollout, app: index) else { return }
        let app = arrival.rules.registry.apps[index]
        let decision = app.rollout.decide(id: installation)
        if let decision, !decision.isAdmitted { noteNotAdmitted(app, decision, installation, id: ids.fresh()) }
        finish(.rollout, GatewayReply.answer(200, DeviceGate.body(decision)), arrival)
    }

    // MARK: POST

    private func post(_ arrival: Arrival) {
        guard mayAsk(arrival) else { return }
        guard let value = RequestValue.make(arrival.target.path, arrival.http.body) else {
            return reject(.body, .badRequest, .other, arrival)
        }
        guard value.count <= arrival.rules.limits.valueBytes else {
            return reject(.body, .tooLarge, .other, arrival)
        }
        switch arrival.rules.decoder.decode(value) {
        case .deadLetter, .command: reject(.request, .badRequest, .other, arrival)
        case .refused(let reason, let path, _, let status):
            let account = RequestDecoder.account(of: path, in: arrival.rules.registry)
            let verb = account.method.map { Verb.exchange($0) } ?? .other
            if reason == .unknownApp { return rejectUnknownApp(path, account.method, verb, arrival) }
            let told = account.method?.tellsReason == true ? reason.code : nil
            reject(.request, status, verb, arrival, reason: told)
        case .request(let request): serve(request, value, arrival)
        }
    }

    private func serve(_ request: Request, _ value: [UInt8], _ arrival: Arrival) {
        let verb = Verb.exchange(request.method)
        if request.method.isVerifiers {
            guard hasCredentials(request.method, arrival) else { return }
        } else {
            guard isAdmitted(arrival, verb, app: request.app), isDebugAdmitted(request, arrival) else { return }
        }
        guard request.method != .generateAppAttestChallenge else { return challenge(request, arrival) }
        submit(request, value, verb, arrival)
    }

    // MARK: Challenges

    /// Sealed challenges need no state: they are made here, and judged by the worker.
    private func challenge(_ request: Request, _ arrival: Arrival) {
        let verb = Verb.exchange(.generateAppAttestChallenge)
        guard isFit(for: .challengeKey, verb, arrival), let key = arrival.rules.challengeKey else { return }
        let app = arrival.rules.registry.apps[request.app]
        if arrival.isAttestationHandshake, let installation = arrival.installationID,
            let decision = app.rollout.decide(id: installation), !decision.isAdmitted
        {
            noteNotAdmitted(app, decision, installation, id: ids.fresh())
            return reject(.rollout, Reason.rolloutNotAdmitted.status(appID: request.appID), verb, arrival)
        }
        let challenge = key.seal(app: app.name, issuedAt: now, random: world.randomBytes(ChallengeKey.randomBytes))
        let life = ProtoDuration(milliseconds: arrival.rules.challengeTTL)
        finish(verb, GatewayReply.answer(200, ExchangeAnswer.challenge(challenge, ttl: life)), arrival)
    }

    private func noteNotAdmitted(
        _ app: RegisteredApp,
        _ decision: RolloutDecision,
        _ installation: ExactText,
        id: [UInt8]
    ) {
        var event = ExchangeEvent(
            name: "AppAttestNotAdmitted",
            app: app.name,
            method: .exchangeAppAttestAttestation,
            reason: .rolloutNotAdmitted,
            requestID: id,
            time: now
        )
        (event.rollout, event.device) = (decision, Array(installation.utf8))
        produce(event: event.bytes)
    }
}

/// The value of a request's record.
enum RequestValue {
    /// - Parameters:
    ///   - path: with its slash, decoded.
    ///   - body: as it was received; empty for a challenge.
    /// - Returns: nil for a body that is not a JSON value: placed in a record, it could end the body and go on.
    static func make(_ path: [UInt8], _ body: [UInt8]) -> [UInt8]? {
        var json = JSONWriter(capacity: path.count + body.count + 64)
        json.beginObject()
        json.member("path", utf8: Array(path.dropFirst()))
        if !body.isEmpty {
            var beginning: JSONBeginning?
            guard (try? JSONDocument(parsing: body, .record, beginning: &beginning)) != nil else { return nil }
            json.member("body", raw: body)
        }
        json.endObject()
        return json.takeBytes()
    }
}
