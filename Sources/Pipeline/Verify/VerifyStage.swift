package import AppAttest
package import AppCheck
internal import Crypto

/// What verification found about a record, before the state is asked.
package enum Finding: Sendable {
    /// Refused or dead before verification.
    case shapeOnly
    /// Too old or too new to be verified.
    case outOfTime(Reason)
    /// Aside, for it is three times as large as what most findings hold.
    indirect case attestation(Result<AttestationEvidence, Refusal>)
    case assertion(Result<AssertionEvidence, Refusal>)
    /// An assertion whose key nobody knows; its object was read all the same.
    case withoutKey(Refusal?)
}

/// Verify (lanes): objects are prepared one by one, their signatures verified in one call per grain.
package struct VerifyStage: Sendable {
    private let settings: PipelineSettings

    package init(settings: PipelineSettings) { self.settings = settings }

    private enum Open {
        case done(Finding)
        case attestation(Prepared<AttestationEvidence>)
        case assertion(Prepared<AssertionEvidence>)

        var checks: [SignatureCheck] {
            switch self {
            case .done: []
            case .attestation(let prepared): prepared.checks
            case .assertion(let prepared): prepared.checks
            }
        }

        func conclude(_ answers: [Bool]) -> Finding {
            switch self {
            case .done(let finding): finding
            case .attestation(let prepared): .attestation(prepared.conclude(answers))
            case .assertion(let prepared): .assertion(prepared.conclude(answers))
            }
        }
    }

    package func verify(
        _ records: ArraySlice<DecodedRecord>,
        keys: ArraySlice<KeyResolution>,
        on lane: LaneScratch
    ) -> [Finding] {
        var open: [(item: Open, checks: Int)] = []
        open.reserveCapacity(records.count)
        var checks: [SignatureCheck] = []
        checks.reserveCapacity(records.count)
        // Copied where the app changes only: a copy touches counts that all lanes share.
        var app: Int?
        var expectations = Expectations(appIDs: [])
        for index in records.indices {
            if case .request(let request) = records[index].shape, request.app != app {
                app = request.app
                expectations = settings.registry.apps[request.app].expectations
            }
            let item = prepare(records[index], key: keys[index], expectations, verifier: lane.verifier)
            let own = item.checks
            checks += own
            open.append((item, own.count))
        }
        let answers = checks.isEmpty ? [] : lane.engine.verify(checks)
        precondition(answers.count == checks.count, "an engine answers every check")
        var next = 0
        return open.map { item, count in
            defer { next += count }
            // Most records have one signature: its answer needs no array of its own.
            if count == 1 { return item.conclude(answers[next] ? Self.valid : Self.invalid) }
            return item.conclude(Array(answers[next..<(next + count)]))
        }
    }

    private static let valid = [true]
    private static let invalid = [false]

    private func prepare(
        _ record: DecodedRecord,
        key: KeyResolution,
        _ expectations: Expectations,
        verifier: ObjectVerifier
    ) -> Open {
        guard case .request(let request) = record.shape else { return .done(.shapeOnly) }
        if let reason = record.clockReason { return .done(.outOfTime(reason)) }
        guard let keyID = request.keyID else { preconditionFailure("Decode lets no request without a key pass") }
        switch request.body {
        case .verifyAttestation(let object, let clientDataHash):
            return .attestation(
                verifier.prepareAttestation(
                    object,
                    clientDataHash: clientDataHash,
                    keyID: keyID,
                    expectations: expectations,
                    at: EvaluationTime(milliseconds: record.record.timestamp)
                )
            )
        case .verifyAssertion(let object, let clientDataHash):
            guard case .key(let key) = key else {
                return .done(.withoutKey(verifier.assertionShape(object, clientDataHash: clientDataHash)))
            }
            return .assertion(
                verifier.prepareAssertion(
                    object,
                    clientDataHash: clientDataHash,
                    key: key,
                    expectations: expectations
                )
            )
        case .generateChallenge, .exchangeAttestation, .exchangeAssertion, .verifyToken:
            preconditionFailure("Decode refuses the verbs that are not served")
        }
    }
}
