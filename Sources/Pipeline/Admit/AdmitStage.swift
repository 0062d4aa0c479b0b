internal import AppAttest
internal import AppCheck
internal import Crypto

/// Admit (loop, in offset order): duplicates, bound keys, counters. The only place that decides about state.
package struct AdmitStage: Sendable {
    private let settings: PipelineSettings

    #if DEBUG
        private let sabotage: Sabotage?
    #endif

    package init(settings: PipelineSettings) {
        self.settings = settings
        #if DEBUG
            sabotage = nil
        #endif
    }

    #if DEBUG
        init(settings: PipelineSettings, sabotage: Sabotage?) {
            self.settings = settings
            self.sabotage = sabotage
        }
    #endif

    /// - Parameter ledger: what was committed of a ledger partition.
    package func admit(
        _ records: [DecodedRecord],
        findings: [Finding],
        overlay: inout LedgerOverlay,
        ledger: (Int32) -> PartitionLedger?
    ) -> [Verdict] {
        precondition(records.count == findings.count, "one finding per record")
        var verdicts: [Verdict] = []
        verdicts.reserveCapacity(records.count)
        var (run, home) = (LedgerRun(), LedgerRun())
        var clock = StreamClock()
        for index in records.indices {
            let record = records[index]
            clock.note(record)
            let applied = home.ledger(record.record.partition, ledger)?.appliedOffset ?? 0
            guard record.record.offset >= applied else {
                verdicts.append(Verdict(outcome: .applied))
                continue
            }
            switch record.shape {
            case .deadLetter(let reason): verdicts.append(Verdict(outcome: .deadLetter(reason)))
            case .refused(let reason, _, _, let status): verdicts.append(Verdict(outcome: .refused(reason, status)))
            case .request(let request):
                guard let keyID = request.keyID else {
                    preconditionFailure("Decode lets no request without a key pass")
                }
                let partition = settings.ledgerPartition(record.record.partition)
                var key = overlay[partition, keyID] ?? run.ledger(partition, ledger)?.keys[keyID]
                let verdict = judge(record, request, findings[index], key: &key)
                if verdict.movesState { overlay[partition, keyID] = key }
                verdicts.append(verdict)
            }
        }
        clock.write(into: &overlay, ledger: ledger)
        return verdicts
    }

    /// - Parameter key: the key's record, nil = unknown; changed exactly where the verdict moves the state.
    private func judge(
        _ record: DecodedRecord,
        _ request: Request,
        _ finding: Finding,
        key: inout KeyRecord?
    ) -> Verdict {
        if let last = key?.lastRequest, isSame(last, record) {
            let kept = key.map { Verdict.Kept(appleAppID: $0.appleAppID, counter: $0.counter) }
            return Verdict(outcome: .accepted, environment: key?.environment, duplicate: kept)
        }
        let previous = key?.counter
        do throws(Reason) {
            switch request.body {
            case .verifyAttestation: try attestation(record, request, finding, key: &key)
            case .verifyAssertion: try assertion(record, request, finding, key: &key)
            case .generateChallenge, .exchangeAttestation, .exchangeAssertion, .verifyToken:
                preconditionFailure("Decode refuses the verbs that are not served")
            }
            return Verdict(outcome: .accepted, environment: key?.environment, previousCounter: previous)
        } catch {
            let status = error.status(appID: request.appID)
            return Verdict(
                outcome: .refused(error, status),
                environment: key?.environment,
                previousCounter: previous
            )
        }
    }

    private func isSame(_ last: LastRequest, _ record: DecodedRecord) -> Bool {
        #if DEBUG
            if sabotage == .duplicateCheckSkipped { return false }
        #endif
        return last.id == record.requestID && last.valueDigest == record.valueDigest
    }

    private func attestation(
        _ record: DecodedRecord,
        _ request: Request,
        _ finding: Finding,
        key: inout KeyRecord?
    ) throws(Reason) {
        let evidence: AttestationEvidence
        switch finding {
        case .attestation(.success(let found)): evidence = found
        case .attestation(.failure(let refusal)): throw .object(refusal)
        case .outOfTime(let reason): throw reason
        case .shapeOnly, .assertion, .withoutKey: preconditionFailure("an attestation has an attestation's finding")
        }
        if let known = key {
            guard isBound(known, to: request.app), known.environment == evidence.environment else {
                throw .keyAlreadyBound
            }
            if known.nonce == evidence.nonce { throw .challengeConsumed }
        }
        key = KeyRecord(
            publicKey: evidence.publicKey,
            // A key that attests again keeps its counter: lowering it would let old assertions back in.
            counter: key?.counter ?? 0,
            app: settings.registry.apps[request.app].name,
            appleAppID: evidence.appID.text,
            environment: evidence.environment,
            validationCategory: evidence.validationCategory,
            registeredAt: key?.registeredAt ?? EvaluationTime(milliseconds: record.record.timestamp),
            nonce: evidence.nonce,
            lastRequest: LastRequest(id: record.requestID, valueDigest: record.valueDigest)
        )
    }

    private func assertion(
        _ record: DecodedRecord,
        _ request: Request,
        _ finding: Finding,
        key: inout KeyRecord?
    ) throws(Reason) {
        if case .outOfTime(let reason) = finding { throw reason }
        // The same answers whatever batch the record came in: shape, then the key, then the signature and the rest.
        if let refusal = Self.shapeRefusal(finding) { throw .object(refusal) }
        guard let known = key else { throw .unknownKey }
        guard known.publicKey != nil else { throw .object(.keyInvalid) }
        let evidence: AssertionEvidence
        switch finding {
        case .assertion(.success(let found)): evidence = found
        case .assertion(.failure(let refusal)): throw .object(refusal)
        // Not verified against the key, so not accepted, whatever the reason was.
        case .shapeOnly, .outOfTime, .attestation, .withoutKey: throw .unknownKey
        }
        guard isBound(known, to: request.app) else { throw .keyAlreadyBound }
        guard evidence.counter > known.counter else { throw .counterNotGreater }
        key?.lastRequest = LastRequest(id: record.requestID, valueDigest: record.valueDigest)
        key?.counter = evidence.counter
        key?.app = settings.registry.apps[request.app].name
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
    private func isBound(_ known: KeyRecord, to app: Int) -> Bool {
        // The app is named by index and read in place: a copy of it would touch counts that all lanes share.
        guard settings.registry.apps[app].expectations.environments.contains(known.environment) else { return false }
        if let bound = known.app { return bound == settings.registry.apps[app].name }
        return settings.registry.apps[app].expectations.appIDs.contains { $0.text == known.appleAppID }
    }
}
