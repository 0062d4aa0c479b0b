internal import AppAttest
internal import AppCheck

/// How an attestation or an assertion changes a key's record, whichever verb brought it.
extension AdmitStage {
    func attestation(
        _ item: Admission<some CheckTracer>,
        key: inout KeyRecord?,
        times: TokenTimes? = nil
    ) throws(Reason) {
        let evidence: AttestationEvidence
        switch item.finding.object {
        case .attestation(.success(let found)): evidence = found
        case .attestation(.failure(let refusal)): throw item.trace.failed("attestation", .object(refusal)) { nil }
        // Not verified, so not accepted, whatever the reason was.
        case .shapeOnly, .outOfTime, .assertion, .withoutKey, .exchange, .token, .receipt:
            throw .object(.malformedAttestation)
        }
        item.trace.passed("attestation") { nil }
        if let known = key {
            try checkBinding(known, item, presented: evidence.environment)
            try item.trace.check(
                "attestation's first use",
                known.nonce != evidence.nonce,
                else: Reason.challengeConsumed
            ) {
                known.nonce == nil ? nil : .firstUse(of: evidence)
            }
            // An earlier attestation of the key must not be replayed over a later one.
            if let last = known.issued {
                let isLater = evidence.issued >= last
                try item.trace.check("order of attestations", isLater, else: Reason.challengeConsumed) {
                    .order(evidence.issued, after: last)
                }
            }
            try checkRisk(of: known.risk, item)
        }
        // A key that attests again keeps its counters: a lower one would let old assertions back in.
        let counters = key?.counters ?? KeyCounters(highest: 0)
        key = KeyRecord(
            publicKey: evidence.publicKey,
            counter: counters.highest,
            app: settings.registry.apps[item.app].name,
            appleAppID: evidence.appID.text,
            environment: evidence.environment,
            validationCategory: evidence.validationCategory,
            registeredAt: key?.registeredAt ?? item.time,
            nonce: evidence.nonce,
            issued: evidence.issued,
            lastRequest: item.lastRequest(times),
            risk: key?.risk
        )
        key?.counters = counters
    }

    /// - Parameter isRestored: the key's record is made of its artifact.
    func assertion(
        _ item: Admission<some CheckTracer>,
        key: inout KeyRecord?,
        times: TokenTimes? = nil,
        isRestored: Bool = false
    ) throws(Reason) {
        if case .exchange(let object, _) = item.finding {
            return try assertion(item, object, key: &key, times, isRestored: isRestored)
        }
        try assertion(item, item.finding, key: &key, times, isRestored: isRestored)
    }

    private func assertion(
        _ item: Admission<some CheckTracer>,
        _ finding: Finding,
        key: inout KeyRecord?,
        _ times: TokenTimes?,
        isRestored: Bool
    ) throws(Reason) {
        let trace = item.trace
        // The same answers whatever batch the record is in: shape, then the key, then the signature and the rest.
        if let refusal = Self.shapeRefusal(finding) { throw trace.failed("object", .object(refusal)) { nil } }
        trace.passed("object") { nil }
        let (isKnown, hasPoint) = (key != nil, key?.publicKey != nil)
        try trace.check("stored key", isKnown, else: Reason.unknownKey) {
            let policy = settings.registry.apps[item.app].unknownKeys
            return .storedKey(isKnown, isRestored: isRestored, item.finding.seals?.artifact, policy)
        }
        try trace.check("stored point", hasPoint, else: Reason.object(.keyInvalid)) {
            Comparison("stored point", hasPoint ? "a point" : "no point", expected: "a point of P-256")
        }
        let evidence: AssertionEvidence
        switch finding {
        case .assertion(.success(let found)): evidence = found
        case .assertion(.failure(let refusal)): throw trace.failed("assertion", .object(refusal)) { nil }
        // Not verified against the key, so not accepted, whatever the reason was.
        case .shapeOnly, .outOfTime, .attestation, .withoutKey, .exchange, .token, .receipt: throw .unknownKey
        }
        trace.passed("assertion") { nil }
        try checkBinding(key, item, presented: nil)
        // An app may list several Apple App IDs; a key stays with the one that attested it.
        let isOwn = key?.names.has(appleAppID: evidence.appID.text) ?? false
        try trace.check("key's App ID", isOwn, else: Reason.object(.appIDMismatch)) {
            Comparison("App ID", evidence.appID.text, expected: "the key's own: \(key?.appleAppID ?? "")")
        }
        let counters = key?.counters ?? KeyCounters(highest: .max)
        let (counter, window) = (evidence.counter, windows[item.app])
        try trace.check("counter", counters.accepts(counter, window: window), else: Reason.counterNotGreater) {
            .counter(counter, counters, window: window)
        }
        try checkRisk(of: key?.risk, item)
        key?.lastRequest = item.lastRequest(times)
        key?.counters.use(counter, window: window)
        // A key that is bound is bound to this app.
        if key?.names.app == nil { key?.bind(to: names[item.app]) }
        if let category = evidence.validationCategory { key?.validationCategory = category }
    }

    private static func shapeRefusal(_ finding: Finding) -> Refusal? {
        switch finding {
        case .withoutKey(let refusal): refusal
        case .assertion(.failure(.malformedAssertion)): .malformedAssertion
        default: nil
        }
    }

    /// A stored key may be used by its own app, or (imported without one) by an app that lists its Apple App ID; in both
    /// cases by one that accepts the key's environment.
    ///
    /// - Parameter presented: an attestation's environment, which must be the key's own.
    func checkBinding(
        _ key: KeyRecord?,
        _ item: Admission<some CheckTracer>,
        presented: Environment?
    ) throws(Reason) {
        guard let environment = key?.environment, let stored = key?.names else { throw .keyAlreadyBound }
        let isOwn =
            stored.isBound(to: names[item.app])
            ?? settings.registry.apps[item.app].expectations.appIDs.contains { $0.text == stored.appleAppID }
        try item.trace.check("key's app", isOwn, else: Reason.keyAlreadyBound) {
            let owner = stored.app ?? "an app that lists \(stored.appleAppID)"
            return Comparison("app of the path", names[item.app], expected: owner)
        }
        let isAccepted = accepts(environment, item.app) && presented ?? environment == environment
        try item.trace.check("key's environment", isAccepted, else: Reason.keyAlreadyBound) {
            let expected = presented.map { _ in "the key's: \(environment.rawValue)" } ?? environments(item.app)
            return Comparison("key's environment", (presented ?? environment).rawValue, expected: expected)
        }
    }

    /// The environments that an app accepts, for reports.
    func environments(_ app: Int) -> String {
        Environment.allCases.filter { accepts($0, app) }.map(\.rawValue).joined(separator: " or ")
    }
}
