package import AppAttest
internal import AppCheck
package import Crypto
internal import Streams

/// Explains verdicts, one record at a time and outside of the hot path: Admit's own checks, and those of decoding and
/// verification, which are pure functions and are made once more under a tracer.
package final class Explainer {
    private let settings: PipelineSettings
    private let verifier: ObjectVerifier
    private let engine: any SignatureEngine
    private let tokens: TokenVerifier
    private let decode: DecodeStage
    /// The wall clock that ages are judged by; nil in replay.
    private let now: EvaluationTime?
    private var earlier: EarlierRefusals
    /// Records that no reading fits, by reason. Trying all readings takes as long as a hundred verdicts: of a reason
    /// with ``mostMisses`` of them no more are tried.
    private var misses: [String: Int] = [:]
    private static let mostMisses = 1000
    /// The reading that fitted last where many hashes are tried: the next record of that app fits it too.
    private var lastFit: String?

    package init(
        settings: PipelineSettings,
        anchors: TrustAnchors,
        engine: any SignatureEngine = OpenSSLEngine(),
        now: EvaluationTime? = nil,
        earlier: EarlierRefusals = EarlierRefusals()
    ) {
        (self.settings, self.engine, self.now, self.earlier) = (settings, engine, now, earlier)
        let appIDs = settings.registry.apps.flatMap(\.expectations.appIDs)
        verifier = ObjectVerifier(anchors: anchors, limits: settings.objectLimits, knownAppIDs: appIDs)
        tokens = TokenVerifier(keys: settings.exchange.keys.tokens)
        decode = DecodeStage(settings: settings)
    }

    /// Must be called with each record, in order: what happened to one explains later ones.
    package func note(_ observation: Observation) { earlier.note(observation) }

    /// The attestation that has left a record's key unknown.
    package func attestation(before observation: Observation) -> EarlierRefusals.Refusal? {
        guard case .refused(.unknownKey, _) = observation.verdict.outcome else { return nil }
        return observation.record.keyID.flatMap { earlier[$0] }
    }

    package func explain(_ observation: Observation) -> Explanation {
        let (record, verdict) = (observation.record, observation.verdict)
        let trace = CheckTrace()
        let request = decode.explain(record, trace)
        let object = verdict.isDuplicate ? nil : record.request.flatMap { report($0, observation) }
        var checks = trace.checks + observation.checks.flatMap { made($0, observation, object) }
        if let verb = record.verb {
            let judgesRisk = record.appIndex.map { settings.registry.apps[$0].risk.mostServed != nil } ?? false
            checks += CheckNames.unreached(verb, after: checks, judgesRisk: judgesRisk)
        }
        if verdict.isDuplicate {
            let cause = "the request was accepted before, under the same id and with the same value"
            checks = [TracedCheck("all checks", .notJudged(cause))]
        }
        let (name, reason) = Self.names(verdict.outcome)
        return Explanation(
            verdict: name,
            reason: reason,
            record: record,
            isDuplicate: verdict.isDuplicate,
            app: request?.appIndex.map { settings.registry.apps[$0].name },
            appLabel: request?.appIndex.map { settings.registry.apps[$0].label },
            verb: request?.verb,
            keyID: request?.keyID ?? Self.keyID(record),
            key: observation.state.key,
            state: fields(observation),
            object: object,
            device: DeviceTraits.claimed(in: record.request),
            attestation: attestation(before: observation),
            checks: checks
        )
    }

    private static func names(_ outcome: Verdict.Outcome) -> (String, String?) {
        switch outcome {
        case .accepted: ("accepted", nil)
        case .refused(let reason, _): ("refused", reason.code)
        case .deferred(let reason, _): ("deferred", reason.code)
        case .deadLetter(let reason): ("dead-letter", reason.rawValue)
        case .applied: ("applied", nil)
        }
    }

    private static func keyID(_ record: DecodedRecord) -> KeyID? {
        if case .refused(_, _, let keyID, _) = record.shape { keyID } else { nil }
    }
}

/// The checks that were made before Admit, which knows their outcome.
extension Explainer {
    private func made(_ check: TracedCheck, _ observation: Observation, _ object: ObjectReport?) -> [TracedCheck] {
        let record = observation.record
        switch (check.name, record.request?.body) {
        case ("age", _):
            guard let now else {
                return [TracedCheck("age", .notJudged("a replay does not judge the age of a record"))]
            }
            return [TracedCheck("age", check.outcome, [.age(of: record.record, at: now, settings.clock)])]
        case ("object", .object?): return Array(object?.checks.prefix(1) ?? [])
        case ("assertion", .object?): return Array(object?.checks.dropFirst() ?? [])
        case ("attestation", .object?): return object?.checks ?? []
        case ("receipt", .receipt(let receipt, _)?):
            guard let app = record.appIndex, let keyID = record.keyID else { return [check] }
            let expectations = settings.registry.apps[app].expectations
            let trace = CheckTrace()
            let prepared = verifier.prepareExchangedReceipt(
                receipt,
                keyID: keyID,
                expectations: expectations,
                at: record.time,
                trace
            )
            _ = prepared.advance(isValid: prepared.check.map { engine.verify([$0]) == [true] } ?? true)
            return trace.checks
        case ("token", .verifyToken(let token)?):
            guard case .project(let number)? = record.request?.resource else { return [check] }
            let trace = CheckTrace()
            _ = tokens.judge(token, projectNumber: number, of: settings.registry, at: record.time, trace)
            return trace.checks
        default: return [check]
        }
    }

    /// The object's own report, where it is refused with the reading that fits.
    private func report(_ request: Request, _ observation: Observation) -> ObjectReport? {
        guard let app = request.appIndex, case .object(let object, let binding) = request.body else { return nil }
        var arguments = InspectionArguments()
        arguments.clientDataHash = VerifyStage.clientDataHash(binding)
        arguments.expectations = settings.registry.apps[app].expectations
        arguments.appliesReceiptPolicy = true
        let time = observation.record.time
        let (report, input): (ObjectReport, InspectedInput)
        switch object {
        case .attestation(let bytes):
            arguments.keyID = request.keyID
            report = verifier.inspectAttestation(bytes, arguments, at: time, engine: engine)
            input = InspectedInput(.attestation, bytes, arguments)
        case .assertion(let bytes):
            let artifact = try? observation.finding.seals?.artifact?.get()
            arguments.key = observation.state.key.map(\.publicKey) ?? artifact?.publicKey
            report = verifier.inspectAssertion(bytes, arguments, engine: engine)
            input = InspectedInput(.assertion, bytes, arguments)
        }
        guard let reason = report.reason, Self.names(observation.verdict.outcome).1 == reason else { return report }
        var refused = RefusedObject(input, report)
        refused.clientData = Self.clientData(binding, observation.record)
        refused.knownAppIDs = verifier.knownAppIDs
        refused.isKeyKnown = observation.state.key != nil
        return report.with(reading(of: refused, reason, at: time))
    }

    private func reading(of refused: RefusedObject, _ reason: String, at time: EvaluationTime) -> FittingReading? {
        guard misses[reason, default: 0] < Self.mostMisses else { return nil }
        let isOfHash = reason == Refusal.nonceMismatch.code || reason == Refusal.signatureInvalid.code
        let first = isOfHash ? lastFit : nil
        let reading = Reading.fitting(refused, verifier, at: time, engine: engine, first: first)
        if reading == nil { misses[reason, default: 0] += 1 }
        if isOfHash, let reading { lastFit = reading.name }
        return reading
    }

    private static func clientData(_ binding: Request.Binding, _ record: DecodedRecord) -> ClientData {
        switch binding {
        case .clientDataHash: record.record.value.flatMap(RequestDecoder.clientData).map { .data($0) } ?? .unknown
        case .exchange(let exchange): .exchange(artifact: exchange.artifact ?? [], challenge: exchange.challenge)
        }
    }

    private func fields(_ observation: Observation) -> [ReportField] {
        var fields: [ReportField] = []
        func add(_ name: String, _ value: ReportValue?) {
            if let value { fields.append(ReportField(name: name, value: value)) }
        }
        let (state, record) = (observation.state, observation.record.record)
        if InboundRecord.timestamps.contains(record.timestamp) { add("evaluationTime", .time(observation.record.time)) }
        if state.streamTime.milliseconds >= 0 { add("streamTime", .time(state.streamTime)) }
        guard observation.record.keyID != nil else { return fields }
        guard let key = state.key else {
            add("key", .text(state.endedUse == nil ? "not in the ledger" : "ended, by keys.expireAfter"))
            add("key.lastUse", state.endedUse.map { .time($0) })
            return fields
        }
        add("key.counter", .number(Int64(key.counter)))
        if key.skipped != 0 {
            add("key.skippedCounters", .text(key.counters.skippedCounters.map { "\($0)" }.joined(separator: ", ")))
        }
        if key.unseen != 0 { add("key.unseenCounters", .text("\(key.unseen)")) }
        if key.lastUse != 0 { add("key.lastUse", .time(EvaluationTime(seconds: Int64(key.lastUse)))) }
        add("key.app", .text(key.app ?? "none yet: imported without one"))
        add("key.appleAppId", .text(key.appleAppID))
        add("key.environment", .text(key.environment.rawValue))
        add("key.publicKey", key.publicKey.map { .base64($0.x963) } ?? .text("unusable: no point of P-256"))
        add("key.registeredAt", .time(key.registeredAt))
        add("key.nonce", key.nonce.map { .bytes($0.bytes) })
        add("key.issued", key.issued.map { .time($0.notBefore) })
        add("key.validationCategory", key.validationCategory.map { .number(Int64($0)) })
        return fields
    }
}

extension CheckNames {
    private static let key = ["key's app", "key's environment"]
    private static let challenge = ["active challenge key", "challenge", "challenge's age", "challenge's use"]
    private static let attestations = attestation + key + ["attestation's first use", "order of attestations"]
    private static let assertions =
        ["object", "stored key", "stored point"] + assertion.dropFirst() + key + ["key's App ID", "counter"]

    /// The checks of a verb, in the order in which they are made.
    private static func of(_ verb: Verb) -> [String] {
        switch verb {
        case .verifyAttestation: ["ban", "age"] + attestations
        case .verifyAssertion: ["ban", "age"] + assertions
        case .verifyReceipt:
            ["ban", "age", "risk.mode", "stored key", "stored point"] + key + [
                "receipt", "receipt's App ID", "receipt's environment",
            ]
                + ["risk metric", "receipt's attestation", "receipt's order", "exchanged receipt"]
        case .exchangeAppAttestAttestation:
            ["ban", "rollout", "age", "rate", "signing key", "active sealing key"] + challenge + attestations
        case .exchangeAppAttestAssertion:
            ["ban", "age", "active sealing key", "artifact", "artifact's app", "artifact's environment", "signing key"]
                + challenge + assertions
        case .generateAppAttestChallenge: ["ban", "age", "challenges", "rollout", "rate", "active challenge key"]
        case .exchangeDebugToken: ["ban", "age", "debug token", "debug token's end", "signing key"]
        case .verifyAppCheckToken:
            ["ban", "age", "signing keys"] + token + ["life", "kind of token", "stream time", "remembered tokens"]
        }
    }

    /// The checks that were not reached since the last of those made has failed.
    ///
    /// - Parameter judgesRisk: whether the app refuses keys by their metric.
    static func unreached(_ verb: Verb, after made: [TracedCheck], judgesRisk: Bool) -> [TracedCheck] {
        guard let last = made.last(where: { $0.outcome != .notReached }), case .failed = last.outcome else { return [] }
        let names = of(verb) + (judgesRisk && (verb.bringsAttestation || verb.bringsAssertion) ? ["risk.above"] : [])
        let rest = names.drop { $0 != last.name }.dropFirst()
        return rest.filter { name in !made.contains { $0.name == name } }.map { TracedCheck($0, .notReached) }
    }
}
