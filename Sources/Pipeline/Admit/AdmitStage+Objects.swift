internal import AppAttest
internal import AppCheck
internal import JSON

/// How an attestation or an assertion changes a key's record, whichever verb brought it.
extension AdmitStage {
    func attestation(_ item: Admission, key: inout KeyRecord?, times: TokenTimes? = nil) throws(Reason) {
        let evidence: AttestationEvidence
        switch item.finding.object {
        case .attestation(.success(let found)): evidence = found
        case .attestation(.failure(let refusal)): throw .object(refusal)
        case .outOfTime(let reason): throw reason
        // Not verified, so not accepted, whatever the reason was.
        case .shapeOnly, .assertion, .withoutKey, .exchange, .token: throw .object(.malformedAttestation)
        }
        if let known = key {
            guard isBound(known, to: item.app), known.environment == evidence.environment else {
                throw .keyAlreadyBound
            }
            if known.nonce == evidence.nonce { throw .challengeConsumed }
            // An earlier attestation of the key must not be replayed over a later one.
            if let last = known.issued, evidence.issued < last { throw .challengeConsumed }
        }
        key = KeyRecord(
            publicKey: evidence.publicKey,
            // A key that attests again keeps its counter: a lower one would let old assertions back in.
            counter: key?.counter ?? 0,
            app: settings.registry.apps[item.app].name,
            appleAppID: evidence.appID.text,
            environment: evidence.environment,
            validationCategory: evidence.validationCategory,
            registeredAt: key?.registeredAt ?? item.time,
            nonce: evidence.nonce,
            issued: evidence.issued,
            lastRequest: item.lastRequest(times)
        )
    }

    func assertion(_ item: Admission, key: inout KeyRecord?, times: TokenTimes? = nil) throws(Reason) {
        if case .exchange(let object, _) = item.finding { return try assertion(item, object, key: &key, times) }
        try assertion(item, item.finding, key: &key, times)
    }

    private func assertion(
        _ item: Admission,
        _ finding: Finding,
        key: inout KeyRecord?,
        _ times: TokenTimes?
    ) throws(Reason) {
        if case .outOfTime(let reason) = finding { throw reason }
        // The same answers whatever batch the record is in: shape, then the key, then the signature and the rest.
        if let refusal = Self.shapeRefusal(finding) { throw .object(refusal) }
        guard key != nil else { throw .unknownKey }
        guard key?.publicKey != nil else { throw .object(.keyInvalid) }
        let evidence: AssertionEvidence
        switch finding {
        case .assertion(.success(let found)): evidence = found
        case .assertion(.failure(let refusal)): throw .object(refusal)
        // Not verified against the key, so not accepted, whatever the reason was.
        case .shapeOnly, .outOfTime, .attestation, .withoutKey, .exchange, .token: throw .unknownKey
        }
        guard isBound(key, to: item.app) else { throw .keyAlreadyBound }
        // An app may list several Apple App IDs; a key stays with the one that attested it.
        guard let bound = key?.appleAppID, Bytes.areEqual(bound, evidence.appID.text)
        else { throw .object(.appIDMismatch) }
        guard let counter = key?.counter, evidence.counter > counter else { throw .counterNotGreater }
        key?.lastRequest = item.lastRequest(times)
        key?.counter = evidence.counter
        key?.app = names[item.app]
        if let category = evidence.validationCategory { key?.validationCategory = category }
    }

    private static func shapeRefusal(_ finding: Finding) -> Refusal? {
        switch finding {
        case .withoutKey(let refusal): refusal
        case .assertion(.failure(.malformedAssertion)): .malformedAssertion
        default: nil
        }
    }

    /// Whether a stored key may be used by this app: its own, or (imported without one) an app that lists its Apple App ID;
    /// in both cases one that accepts the key's environment.
    private func isBound(_ key: KeyRecord?, to app: Int) -> Bool {
        guard let environment = key?.environment, accepts(environment, app) else { return false }
        if let bound = key?.app { return bound == names[app] }
        return settings.registry.apps[app].expectations.appIDs.contains { $0.text == key?.appleAppID }
    }
}
