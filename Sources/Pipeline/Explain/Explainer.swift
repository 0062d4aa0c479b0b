package import AppAttest
internal import AppCheck
package import Crypto
internal import Log

/// Explains verdicts, one record at a time and outside of the hot path: each check is made again by the pure functions
/// that the pipeline calls.
package final class Explainer {
    let settings: PipelineSettings
    let verifier: ObjectVerifier
    let engine: any SignatureEngine
    let tokens: TokenVerifier
    let decoder: RequestDecoder
    let knownAppIDs: [AppID]
    /// The wall clock that ages are judged by; nil in replay.
    let now: EvaluationTime?
    private var earlier: EarlierRefusals

    package init(
        settings: PipelineSettings,
        anchors: TrustAnchors,
        engine: any SignatureEngine = OpenSSLEngine(),
        now: EvaluationTime? = nil,
        earlier: EarlierRefusals = EarlierRefusals()
    ) {
        self.settings = settings
        self.engine = engine
        (self.now, self.earlier) = (now, earlier)
        verifier = ObjectVerifier(anchors: anchors, limits: settings.objectLimits)
        tokens = TokenVerifier(keys: settings.exchange.keys.tokens)
        decoder = settings.requestDecoder
        knownAppIDs = settings.registry.apps.flatMap(\.expectations.appIDs)
    }

    /// To be called with each record, in order: what happened to one explains later ones.
    package func note(_ observation: Observation) { earlier.note(observation) }

    /// The attestation that has left a record's key unknown.
    package func attestation(before observation: Observation) -> EarlierRefusals.Refusal? {
        guard case .refused(.unknownKey, _) = observation.verdict.outcome else { return nil }
        return observation.record.keyID.flatMap { earlier[$0] }
    }

    package func explain(_ observation: Observation) -> Explanation {
        let (record, verdict) = (observation.record, observation.verdict)
        var look = SecondLook(observation)
        judge(record, &look)
        let (name, reason) = Self.names(verdict.outcome)
        let known = Self.requestOf(record, decoder)
        return Explanation(
            verdict: name,
            reason: reason,
            record: record,
            isDuplicate: verdict.isDuplicate,
            app: known?.appIndex.map { settings.registry.apps[$0].name },
            method: known?.method,
            keyID: Self.keyID(record, known),
            state: fields(observation),
            object: look.object,
            device: DeviceFacts(look.object, observation.state.key),
            attestation: attestation(before: observation),
            checks: look.walk.checks
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

    /// The request, of a record with a wrong key or time too.
    static func requestOf(_ record: DecodedRecord, _ decoder: RequestDecoder) -> Request? {
        if let request = record.request { return request }
        guard case .refused = record.shape, let value = record.record.value,
            case .request(let request) = decoder.decode(value)
        else { return nil }
        return request
    }

    private static func keyID(_ record: DecodedRecord, _ request: Request?) -> KeyID? {
        if let keyID = request?.keyID { return keyID }
        if case .refused(_, _, let keyID?, _) = record.shape { return keyID }
        return nil
    }

    private func fields(_ observation: Observation) -> [ReportField] {
        var fields: [ReportField] = []
        func add(_ name: String, _ value: ReportValue?) {
            if let value { fields.append(ReportField(name: name, value: value)) }
        }
        let (state, record) = (observation.state, observation.record.record)
        if InboundRecord.timestamps.contains(record.timestamp) {
            add("evaluationTime", .time(EvaluationTime(milliseconds: record.timestamp)))
        }
        if state.streamTime.milliseconds >= 0 { add("streamTime", .time(state.streamTime)) }
        guard observation.record.keyID != nil else { return fields }
        guard let key = state.key else {
            add("key", .text("not in the ledger"))
            return fields
        }
        add("key.counter", .number(Int64(key.counter)))
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

/// The checks found so far, and the object that they are about.
struct SecondLook {
    let record: DecodedRecord
    let state: StateThen
    let verdict: Verdict
    var walk = CheckWalk()
    var object: ObjectReport?

    init(_ observation: Observation) {
        (record, state, verdict) = (observation.record, observation.state, observation.verdict)
    }

    var time: EvaluationTime { EvaluationTime(milliseconds: record.record.timestamp) }
}

extension DeviceFacts {
    init(_ object: ObjectReport?, _ key: KeyRecord?) {
        func text(_ name: String) -> String? { object?.fields.first { $0.name == name }?.value.description }
        platform = text("leaf.platform")
        let build = text("leaf.osBuild").map { " (\($0))" } ?? ""
        osVersion = text("leaf.osVersion").map { $0 + build }
        category = text("validationCategory").flatMap { UInt32($0.prefix { $0.isNumber }) } ?? key?.validationCategory
        bundleVersion = text("bundleVersion")
        environment = text("authData.environment") ?? key?.environment.rawValue
        appID = text("authData.appId")
    }
}
