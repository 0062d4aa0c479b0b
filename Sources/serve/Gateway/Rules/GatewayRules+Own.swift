internal import AppAttest
internal import AppCheck
internal import Pipeline

/// What this gateway's own files say of answers and tokens of workers, whose files may be others.
extension GatewayRules {
    /// Whether this gateway's apps.json accepts what a worker refused: one of the two has not read the newer file yet.
    ///
    /// - Parameters:
    ///   - reason: the refusal's code.
    ///   - value: of the request.
    func accepts(_ value: [UInt8], refusedFor reason: String, at time: EvaluationTime) -> Bool {
        guard case .request(let request) = decoder.decode(value) else { return false }
        if case .verifyToken(let token) = request.body, case .project(let number) = request.resource {
            return reason == Reason.tokenInvalid.code && isGenuine(token, ofProject: number, at: time)
        }
        guard let index = request.appIndex else { return false }
        let app = registry.apps[index]
        switch request.body {
        case .debugToken(let hash, _):
            let isOfFiles = [Reason.debugTokenInvalid.code, Reason.debugTokenExpired.code].contains(reason)
            return isOfFiles && app.debugToken(hash).map { time < $0.until } ?? false
        case .receipt: return reason == Reason.riskOff.code && app.risk.keepsReceipts
        case .object(let object, _):
            guard let refusal = Refusal.allCases.first(where: { $0.code == reason }) else { return false }
            switch object {
            case .attestation(let bytes): return app.expectations.accept(DeviceTraits(attestation: bytes), refusal)
            case .assertion(let bytes):
                // Its key may be one of another App ID that is listed here, too.
                guard refusal != .appIDMismatch else { return false }
                return app.expectations.accept(DeviceTraits(assertion: bytes), refusal)
            }
        case .generateChallenge, .verifyToken: return false
        }
    }

    /// Whether a worker that refuses a token may lack its key or its app. This gateway may lack the app, too: another one has
    /// passed the device's calls on.
    private func isGenuine(_ token: [UInt8], ofProject number: String, at time: EvaluationTime) -> Bool {
        guard let kid = UnverifiedToken(token)?.kid, !revokedKeys.contains(kid) else { return false }
        let project = registry.apps.first { $0.projectNumber == number }?.projectID
        let claims = try? tokens?.verify(token, projectNumber: number, projectID: project, at: time) { claims in
            let (name, apps) = (claims.subject, registry.apps.filter { $0.projectNumber == number })
            if let app = apps.first(where: { $0.appID == name || $0.oauthClientIDs.contains(name) }) {
                return app.mayHold(claims) && (claims.isLimitedUse || app.tokens.consumesSessionTokens)
            }
            let names = ["projects/\(number)/apps/\(name)", "oauthClients/\(name)"]
            // Of an app that is gone a session token could live for days.
            return claims.isLimitedUse && !names.contains { registry.retired.contains(ExactText($0)) }
        }
        .get()
        return claims.map { $0.isLimitedUse || $0.times.isSession } ?? false
    }

    /// The `kid` of a token of a listed project that the key set does not have; nil where it has it, or the key is revoked.
    func unknownKey(of token: [UInt8], at time: EvaluationTime) -> ExactText? {
        let kid = tokens?.unknownKey(of: token, in: registry, at: time)
        return kid.flatMap { revokedKeys.contains($0) ? nil : $0 }
    }
}

extension Expectations {
    /// Whether the rule that a refusal is about accepts an object's own account; false for a refusal that no file causes.
    fileprivate func accept(_ traits: DeviceTraits, _ refusal: Refusal) -> Bool {
        switch refusal {
        case .appIDMismatch: traits.appIDHash.map { hash in appIDs.contains { $0.rpIDHash == hash } } ?? false
        case .environmentMismatch: traits.environment.map { accepts($0) } ?? false
        case .categoryNotAllowed: categories.allows(traits.validationCategory)
        case .bundleVersionNotAllowed: bundleVersions.allows(traits.bundleVersion)
        case .categoryMissing: categories.whenMissing == .accept
        case .bundleVersionMissing: bundleVersions.whenMissing == .accept
        case .aclMissing, .aclMismatch: macACL == .accept
        // Another hash than the attested one is refused whatever the policy.
        case .receipt(let cause): receipt != .require && cause != .clientHash
        default: false
        }
    }
}

extension EntryPolicy {
    fileprivate func allows(_ value: Value?) -> Bool { value.map { allow?.contains($0) ?? true } ?? false }
}
