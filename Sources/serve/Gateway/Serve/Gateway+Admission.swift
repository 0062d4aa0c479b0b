internal import AppAttest
internal import AppCheck
internal import HTTP
internal import Pipeline
internal import Settings
internal import Threads

/// Who may ask for what. Each check answers a call that fails it, and nothing is produced for that call.
extension Gateway {
    /// Decides by a call's verb and sender alone, before anything of its body is read.
    func mayAsk(_ call: IncomingCall) -> Bool {
        let verb = call.target.verb.flatMap { name in
            Verb.allCases.first { name.elementsEqual($0.rawValue.utf8) }
        }
        let call = call.asking(for: verb)
        return hasCredentials(call) && isInRate(call)
    }

    /// Whether the caller is one that may ask for this.
    func hasCredentials(_ call: IncomingCall) -> Bool {
        guard case .exchange(let verb) = call.verb, verb.isVerifiers, call.caller.verifier == nil else { return true }
        reject(.credentials, .notAuthenticated, call)
        return false
    }

    /// Whether the caller's address has not called too often. Verifiers prove who they are and have no limit.
    func isInRate(_ call: IncomingCall) -> Bool {
        let settings = call.rules.settings
        guard settings.callsPerAddress > 0, call.caller.verifier == nil else { return true }
        let key = ClientAddress.key(of: call.http, settings)
        let wait = state.withLock { $0.addresses.wait(key, at: call.since) }
        return isInTime(wait, .addressRate, call)
    }

    private func isInTime(_ wait: Int64?, _ cause: GatewayCounts.Rejection, _ call: IncomingCall) -> Bool {
        guard let wait else { return true }
        reject(cause, GatewayReply.error(.exhausted, own: [("Retry-After", String(wait))]), call)
        return false
    }

    /// Checks the app's API key and the bundle's header. Google Sign-In, which names OAuth clients, sends neither.
    func isAdmitted(_ call: IncomingCall, app index: Int) -> Bool {
        let rules = call.rules
        guard !call.isOAuthClient else { return true }
        if let keys = rules.registry.apps[index].apiKeys {
            let key = call.http.values("x-goog-api-key").last ?? call.target.parameter("key")
            guard let key = key.flatMap({ ExactText(validating: $0) }), keys.contains(key) else {
                reject(.apiKey, .badAPIKey, call)
                return false
            }
            let wait = state.withLock { $0.apiKeys.wait(key.utf8, at: call.since) }
            guard isInTime(wait, .apiKeyRate, call) else { return false }
        }
        let bundle = call.http.values("x-ios-bundle-identifier").last
        if let own = bundle.flatMap({ rules.bundle($0, ofApp: index) }) {
            state.withLock { $0.counts.bundles[own, default: 0] += 1 }
            return true
        }
        // A missing header is not a mismatch, but `require` rejects it.
        if bundle != nil { state.withLock { $0.counts.foreignBundles += 1 } }
        guard rules.settings.bundleHeader == .require else { return true }
        reject(.bundle, .badBundle, call)
        return false
    }

    /// A secret that the app does not list leaves no record and uses up nobody's rate: a worker would answer the same.
    func isDebugAdmitted(_ request: Request, _ call: IncomingCall) -> Bool {
        guard case .debugToken(let hash, let limitedUse) = request.body else { return true }
        let app = call.rules.registry.apps[request.app]
        let known = app.debugToken(hash)
        let wait = state.withLock { $0.debug.wait(app.name, known?.hash, at: call.since) }
        guard known == nil else { return isInTime(wait, .debugRate, call) }
        let (reason, id) = (Reason.debugTokenInvalid, ids.fresh())
        if wait == nil {
            var made = event("DebugTokenFailure", of: app, request.verb, reason, id)
            (made.limitedUse, made.device) = (limitedUse, call.installationID.map { Array($0.utf8) })
            produce(event: made.bytes)
        }
        reject(.debugToken, GatewayReply.error(reason.status(appID: request.appID), id: id), call)
        return false
    }
}
