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
            state.withLock { $0.counts.reject(.path) }
            return finish(.other, GatewayReply.error(.badRequest), since: since, responder)
        }
        var call = IncomingCall(
            http: http,
            target: target,
            caller: Caller(http, rules.settings, rules.verifiers),
            rules: rules,
            responder: responder,
            since: since
        )
        guard let verb = asked.map({ _ in GatewayVerb.verify }) ?? GatewayVerb(target) else {
            return reject(.path, .notFound, call)
        }
        guard call.hasMethod(of: verb) || asked != nil && VerifyTarget.isTaken(http) else {
            let allowed = [(name: "Allow", value: verb.methods.joined(separator: ", "))]
            return reject(.method, GatewayReply.error(.methodNotAllowed, own: allowed), call)
        }
        call.verb = verb
        if let asked { return verify(asked, call) }
        switch verb {
        case .healthz: finish(GatewayReply.answer(200, Array(#"{"status":"ok"}"#.utf8)), call)
        case .jwks: keySet(call)
        case .rollout: rollout(call)
        case .exchange, .verify, .other: post(call)
        }
    }

    /// Counts and sends a refusal that leaves no request on a topic.
    ///
    /// - Parameter reason: left out unless the verb names reasons to its callers.
    func reject(_ cause: GatewayCounts.Rejection, _ status: Status, _ call: IncomingCall, reason: Reason? = nil) {
        reject(cause, GatewayReply.error(status, reason: call.tellsReason ? reason?.code : nil), call)
    }

    func reject(_ cause: GatewayCounts.Rejection, _ reply: HTTPReply, _ call: IncomingCall) {
        state.withLock { $0.counts.reject(cause) }
        finish(reply, call)
    }

    func finish(_ reply: HTTPReply, _ call: IncomingCall) {
        finish(call.verb, reply, since: call.since, call.responder)
    }

    /// A name that may only not be listed here yet gets 503: 404 would silence a stock client for a day.
    private func rejectUnknownApp(_ path: ExactText, _ call: IncomingCall) {
        let isGone = RequestDecoder.isGone(path, in: call.rules.registry)
        if !isGone, let name = RequestDecoder.resource(of: path) { state.withLock { $0.unknownApps.note(name) } }
        reject(.app, isGone ? .notFound : .unavailable, call, reason: isGone ? .unknownApp : nil)
    }

    // MARK: GET

    private func keySet(_ call: IncomingCall) {
        guard let bytes = call.rules.keySet else { return reject(.path, .notFound, call) }
        // As long as Google's SDKs keep a set.
        finish(GatewayReply.answer(200, bytes, own: [("Cache-Control", "public, max-age=21600")]), call)
    }

    /// `GET …:rollout` with `X-Installation-Id`: whether the device would be admitted, before it asks Apple.
    private func rollout(_ call: IncomingCall) {
        guard isInRate(call) else { return }
        let path = ExactText(validating: call.target.path) ?? ""
        let account = RequestDecoder.account(of: path, in: call.rules.registry)
        guard let index = account.app else { return rejectUnknownApp(path, call) }
        guard let installation = call.installationID else { return reject(.request, .badRequest, call) }
        guard isAdmitted(call, app: index) else { return }
        let decision = decide(call.rules.registry.apps[index], installation)
        var json = JSONWriter(capacity: 96)
        json.beginObject()
        json.member("admitted", decision?.isAdmitted ?? true)
        if let decision {
            json.member("bucket", decision.bucket)
            json.member("percent", raw: Array(Rollout.percentText(decision.parts).utf8))
        }
        json.endObject()
        finish(GatewayReply.answer(200, json.takeBytes()), call)
    }

    /// The rollout's decision about a device; one that is not admitted leaves an event.
    private func decide(_ app: RegisteredApp, _ installation: ExactText) -> RolloutDecision? {
        let decision = app.rollout.decide(id: installation)
        guard let decision, !decision.isAdmitted else { return decision }
        let id = ids.fresh()
        var made = event("AppAttestNotAdmitted", of: app, .exchangeAppAttestAttestation, .rolloutNotAdmitted, id)
        (made.rollout, made.device) = (decision, Array(installation.utf8))
        produce(event: made.bytes)
        return decision
    }

    // MARK: POST

    private func post(_ call: IncomingCall) {
        guard mayAsk(call) else { return }
        guard let value = RequestValue.make(call.target.path, call.http.body) else {
            return reject(.body, .badRequest, call)
        }
        guard value.count <= call.rules.limits.valueBytes else { return reject(.body, .tooLarge, call) }
        switch call.rules.decoder.decode(value) {
        case .deadLetter, .command: reject(.request, .badRequest, call)
        case .refused(let reason, let path, _, let status):
            let call = call.asking(for: RequestDecoder.account(of: path, in: call.rules.registry).verb)
            if reason == .unknownApp { return rejectUnknownApp(path, call) }
            reject(.request, status, call, reason: reason)
        case .request(let request): serve(request, value, call)
        }
    }

    private func serve(_ request: Request, _ value: [UInt8], _ call: IncomingCall) {
        let call = call.asking(for: request.verb)
        if request.verb.isVerifiers {
            guard hasCredentials(call) else { return }
        } else {
            guard isAdmitted(call, app: request.app), isDebugAdmitted(request, call) else { return }
        }
        guard request.verb != .generateAppAttestChallenge else { return challenge(request, call) }
        submit(request, value, call)
    }

    // MARK: Challenges

    /// Sealed challenges need no state: they are made here, and judged by the worker.
    private func challenge(_ request: Request, _ call: IncomingCall) {
        guard isFit(for: .challengeKey, call), let key = call.rules.challengeKey else { return }
        let app = call.rules.registry.apps[request.app]
        if call.isAttestationHandshake, let installation = call.installationID,
            let decision = decide(app, installation), !decision.isAdmitted
        {
            return reject(.rollout, Reason.rolloutNotAdmitted.status(appID: request.appID), call)
        }
        let challenge = key.seal(
            app: app.name,
            issuedAt: challengeTime(call.rules),
            random: dependencies.randomBytes(ChallengeKey.randomBytes)
        )
        let life = ProtoDuration(milliseconds: call.rules.challengeTTL)
        finish(GatewayReply.answer(200, ExchangeAnswer.challenge(challenge, ttl: life)), call)
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
