internal import AppAttest
internal import AppCheck
package import HTTP
internal import JSON
internal import Pipeline
internal import Settings
internal import Threads

extension Gateway {
    /// Answers a call, now or when its answer has come. On the server's thread; never waits.
    package func handle(_ http: HTTPCall, _ responder: any HTTPResponder) {
        let since = dependencies.uptime()
        let rules = state.withLock { $0.rules }
        let asked = VerifyTarget.read(http.target)
        // A proxy may append its client's path, which is not one of ours, however it is spelled.
        guard let target = CallTarget(asked == nil ? http.target : VerifyTarget.path) else {
            return reject(.path, .badRequest, .other, since, responder)
        }
        let call = IncomingCall(
            http: http,
            target: target,
            caller: Caller(http, rules.settings, rules.verifiers),
            rules: rules,
            responder: responder,
            since: since
        )
        if let asked {
            let isTaken = VerifyTarget.isTaken(http) || Endpoint.takes(http.method, Endpoint.read)
            return isTaken ? verify(asked, call) : reject(method: Endpoint.read, call)
        }
        guard let endpoint = Endpoint(target) else { return reject(.path, .notFound, .other, call) }
        guard Endpoint.takes(http.method, endpoint.methods) else { return reject(method: endpoint.methods, call) }
        switch endpoint {
        case .healthz: finish(.healthz, GatewayReply.answer(200, Array(#"{"status":"ok"}"#.utf8)), call)
        case .keySet: keySet(call)
        case .rollout: rollout(call)
        case .exchange: post(call)
        }
    }

    /// Counts and sends a refusal that leaves no request on a topic.
    func reject(
        _ cause: GatewayCounts.Rejection,
        _ status: Status,
        _ verb: GatewayVerb,
        _ since: Int64,
        _ responder: any HTTPResponder
    ) {
        state.withLock { $0.counts.reject(cause) }
        finish(verb, GatewayReply.error(status), since: since, responder)
    }

    func reject(
        _ cause: GatewayCounts.Rejection,
        _ status: Status,
        _ verb: GatewayVerb,
        _ call: IncomingCall,
        reason: String? = nil
    ) {
        reject(cause, GatewayReply.error(status, reason: reason), verb, call)
    }

    func reject(_ cause: GatewayCounts.Rejection, _ reply: HTTPReply, _ verb: GatewayVerb, _ call: IncomingCall) {
        state.withLock { $0.counts.reject(cause) }
        finish(verb, reply, call)
    }

    /// - Parameter methods: those that the path takes.
    private func reject(method methods: [String], _ call: IncomingCall) {
        var reply = GatewayReply.error(.methodNotAllowed)
        reply.headers.append(("Allow", methods.joined(separator: ", ")))
        reject(.method, reply, .other, call)
    }

    func finish(_ verb: GatewayVerb, _ reply: HTTPReply, _ call: IncomingCall) {
        finish(verb, reply, since: call.since, call.responder)
    }

    /// A name that may only not be listed here yet gets 503: 404 would silence a stock client for a day.
    private func rejectUnknownApp(_ path: ExactText, _ named: Verb?, _ verb: GatewayVerb, _ call: IncomingCall) {
        let isGone = RequestDecoder.isGone(path, in: call.rules.registry)
        if !isGone, let name = RequestDecoder.resource(of: path) { state.withLock { $0.unknownApps.note(name) } }
        let code = named?.tellsReason == true ? Reason.unknownApp.code : nil
        reject(.app, isGone ? .notFound : .unavailable, verb, call, reason: isGone ? code : nil)
    }

    // MARK: GET

    private func keySet(_ call: IncomingCall) {
        guard let bytes = call.rules.keySet else { return reject(.path, .notFound, .jwks, call) }
        var reply = GatewayReply.answer(200, bytes)
        // As long as Google's SDKs keep a set.
        reply.headers.append(("Cache-Control", "public, max-age=21600"))
        finish(.jwks, reply, call)
    }

    /// `GET …:rollout` with `X-Installation-Id`: whether the device would be admitted, before it asks Apple.
    private func rollout(_ call: IncomingCall) {
        guard isInRate(call, .rollout) else { return }
        let path = ExactText(validating: call.target.path) ?? ""
        let account = RequestDecoder.account(of: path, in: call.rules.registry)
        guard let index = account.app else { return rejectUnknownApp(path, nil, .rollout, call) }
        guard let installation = call.installationID else {
            return reject(.request, .badRequest, .rollout, call)
        }
        guard isAdmitted(call, .rollout, app: index) else { return }
        let app = call.rules.registry.apps[index]
        let decision = app.rollout.decide(id: installation)
        if let decision, !decision.isAdmitted { noteNotAdmitted(app, decision, installation, id: ids.fresh()) }
        finish(.rollout, GatewayReply.answer(200, DeviceGate.body(decision)), call)
    }

    // MARK: POST

    private func post(_ call: IncomingCall) {
        guard mayAsk(call) else { return }
        guard let value = RequestValue.make(call.target.path, call.http.body) else {
            return reject(.body, .badRequest, .other, call)
        }
        guard value.count <= call.rules.limits.valueBytes else {
            return reject(.body, .tooLarge, .other, call)
        }
        switch call.rules.decoder.decode(value) {
        case .deadLetter, .command: reject(.request, .badRequest, .other, call)
        case .refused(let reason, let path, _, let status):
            let account = RequestDecoder.account(of: path, in: call.rules.registry)
            let verb = account.verb.map { GatewayVerb.exchange($0) } ?? .other
            if reason == .unknownApp { return rejectUnknownApp(path, account.verb, verb, call) }
            let code = account.verb?.tellsReason == true ? reason.code : nil
            reject(.request, status, verb, call, reason: code)
        case .request(let request): serve(request, value, call)
        }
    }

    private func serve(_ request: Request, _ value: [UInt8], _ call: IncomingCall) {
        let verb = GatewayVerb.exchange(request.verb)
        if request.verb.isVerifiers {
            guard hasCredentials(request.verb, call) else { return }
        } else {
            guard isAdmitted(call, verb, app: request.app), isDebugAdmitted(request, call) else { return }
        }
        guard request.verb != .generateAppAttestChallenge else { return challenge(request, call) }
        submit(request, value, verb, call)
    }

    // MARK: Challenges

    /// Sealed challenges need no state: they are made here, and judged by the worker.
    private func challenge(_ request: Request, _ call: IncomingCall) {
        let verb = GatewayVerb.exchange(.generateAppAttestChallenge)
        guard isFit(for: .challengeKey, verb, call), let key = call.rules.challengeKey else { return }
        let app = call.rules.registry.apps[request.app]
        if call.isAttestationHandshake, let installation = call.installationID,
            let decision = app.rollout.decide(id: installation), !decision.isAdmitted
        {
            noteNotAdmitted(app, decision, installation, id: ids.fresh())
            return reject(.rollout, Reason.rolloutNotAdmitted.status(appID: request.appID), verb, call)
        }
        let challenge = key.seal(
            app: app.name,
            issuedAt: now,
            random: dependencies.randomBytes(ChallengeKey.randomBytes)
        )
        let life = ProtoDuration(milliseconds: call.rules.challengeTTL)
        finish(verb, GatewayReply.answer(200, ExchangeAnswer.challenge(challenge, ttl: life)), call)
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
            verb: .exchangeAppAttestAttestation,
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
