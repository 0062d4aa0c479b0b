internal import AppAttest
internal import AppCheck
internal import HTTP
internal import Pipeline
internal import Settings
internal import Threads

/// Who may ask for what. Each check answers a call that fails it, and nothing is produced for that call.
extension Gateway {
    /// Decides by a call's verb and sender alone, before anything of its body is read.
    func mayAsk(_ arrival: Arrival) -> Bool {
        let method = arrival.target.verb.flatMap { verb in
            Method.allCases.first { verb.elementsEqual($0.rawValue.utf8) }
        }
        if let method, !hasCredentials(method, arrival) { return false }
        return isInRate(arrival, method.map { .exchange($0) } ?? .other)
    }

    /// Whether the caller is one that may ask for this.
    func hasCredentials(_ method: Method, _ arrival: Arrival) -> Bool {
        guard method.isVerifiers, arrival.caller.verifier == nil else { return true }
        reject(.credentials, .notAuthenticated, .exchange(method), arrival)
        return false
    }

    /// Whether the caller's address has not called too often. Verifiers prove who they are and have no limit.
    func isInRate(_ arrival: Arrival, _ verb: Verb) -> Bool {
        let settings = arrival.rules.settings
        guard settings.callsPerAddress > 0, arrival.caller.verifier == nil else { return true }
        let key = ClientAddress.key(of: arrival.http, settings)
        let wait = state.withLock { $0.addresses.wait(key, at: arrival.since) }
        return isInTime(wait, .addressRate, verb, arrival)
    }

    private func isInTime(
        _ wait: Int64?,
        _ cause: GatewayCounts.Rejection,
        _ verb: Verb,
        _ arrival: Arrival
    ) -> Bool {
        guard let wait else { return true }
        var reply = GatewayReply.error(.exhausted)
        reply.headers.append(("Retry-After", String(wait)))
        reject(cause, reply, verb, arrival)
        return false
    }

    /// Checks the app's API key and the bundle's header. Google Sign-In, which names OAuth clients, sends neither.
    func isAdmitted(_ arrival: Arrival, _ verb: Verb, app index: Int) -> Bool {
        let rules = arrival.rules
        guard !arrival.isOAuthClient else { return true }
        if let keys = rules.registry.apps[index].apiKeys {
            let key = arrival.http.values("x-goog-api-key").last ?? arrival.target.parameter("key")
            guard let key = key.flatMap({ ExactText(validating: $0) }), keys.contains(key) else {
                reject(.apiKey, .badAPIKey, verb, arrival)
                return false
            }
            let wait = state.withLock { $0.apiKeys.wait(key.utf8, at: arrival.since) }
            guard isInTime(wait, .apiKeyRate, verb, arrival) else { return false }
        }
        let bundle = arrival.http.values("x-ios-bundle-identifier").last
        guard bundle.map({ rules.isBundle($0, ofApp: index) }) != true else { return true }
        // A missing header is not a mismatch, but `require` rejects it.
        if bundle != nil { state.withLock { $0.counts.foreignBundles += 1 } }
        guard rules.settings.bundleHeader == .require else { return true }
        reject(.bundle, .badBundle, verb, arrival)
        return false
    }

    /// A secret that the app does not list leaves no record and uses up nobody's rate: a worker would answer the same.
    func isDebugAdmitted(_ request: Request, _ arrival: Arrival) -> Bool {
        guard case .debugToken(let hash, let limitedUse) = request.body else { return true }
        let verb = Verb.exchange(request.method)
        let app = arrival.rules.registry.apps[request.app]
        let known = app.debugToken(hash)
        let wait = state.withLock { $0.debug.wait(app.name, known?.hash, at: arrival.since) }
        guard known == nil else { return isInTime(wait, .debugRate, verb, arrival) }
        let (reason, id) = (Reason.debugTokenInvalid, ids.fresh())
        if wait == nil {
            var event = ExchangeEvent(
                name: "DebugTokenFailure",
                app: app.name,
                method: request.method,
                reason: reason,
                requestID: id,
                time: now
            )
            (event.limitedUse, event.device) = (limitedUse, arrival.installationID.map { Array($0.utf8) })
            produce(event: event.bytes)
        }
        reject(.debugToken, GatewayReply.error(reason.status(appID: request.appID), id: id), verb, arrival)
        return false
    }
}
