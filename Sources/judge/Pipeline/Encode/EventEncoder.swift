package import AppAttest
package import AppCheck
internal import Crypto
internal import JSON
internal import Streams

/// The events of a worker's exchanges.
struct EventEncoder {
    private let registry: Registry
    /// The apps' names, by index.
    private let names: [String]
    private let policies: [RiskPolicy]

    init(registry: Registry) {
        self.registry = registry
        names = registry.apps.map(\.name)
        policies = registry.apps.map(\.risk)
    }

    /// - Returns: nil for other verbs, for duplicates, and for requests answered with 503: a deferral, a record that
    ///   came late or under a wrong key. None of these is the device's failure.
    func encode(_ decoded: DecodedRecord, _ finding: Finding, _ verdict: Verdict) -> [UInt8]? {
        // Other verbs are known without reading the path again.
        if let verb = decoded.verb {
            if verb.content == .receipt { return risk(decoded, finding, verdict) }
            guard verb.hasEvents else { return nil }
        }
        guard !verdict.isDuplicate, let subject = subject(of: decoded),
            let (name, reason) = Self.name(of: verdict, subject.verb)
        else {
            return nil
        }
        var event = ExchangeEvent(
            name: name,
            app: names[subject.app],
            verb: subject.verb,
            reason: reason,
            requestID: decoded.requestID.utf8,
            time: EvaluationTime(milliseconds: max(0, decoded.record.timestamp))
        )
        (event.limitedUse, event.rollout) = (subject.limitedUse, verdict.rollout)
        event.device = decoded.installationID.map { Array($0.utf8) } ?? subject.keyID?.recordKey
        if case .debugToken(let hash, _)? = decoded.request?.body {
            event.debugToken = registry.apps[subject.app].debugToken(hash)?.name
        }
        event.traits = DeviceTraits(finding, decoded.request)
        event.isRestored = verdict.isRestored
        event.isAbove = verdict.risk.map { policies[subject.app].marks($0.value) } ?? false
        return event.bytes
    }

    /// The event of a key's new metric.
    private func risk(_ decoded: DecodedRecord, _ finding: Finding, _ verdict: Verdict) -> [UInt8]? {
        guard verdict.isAccepted, !verdict.isDuplicate, let app = decoded.appIndex, let keyID = decoded.keyID,
            case .receipt(.success(let evidence)) = finding, let metric = evidence.receipt.metric
        else { return nil }
        var event = ExchangeEvent(
            name: "AppAttestRisk",
            app: names[app],
            verb: .verifyReceipt,
            reason: nil,
            requestID: decoded.requestID.utf8,
            time: EvaluationTime(milliseconds: max(0, decoded.record.timestamp))
        )
        event.device = decoded.installationID.map { Array($0.utf8) } ?? keyID.recordKey
        event.risk = (metric, verdict.risk?.value, evidence.environment)
        event.isAbove = policies[app].marks(metric)
        return event.bytes
    }

    private struct Subject {
        /// Index into the registry's apps.
        let app: Int
        let verb: Verb
        let limitedUse: Bool
        let keyID: KeyID?
    }

    private func subject(of decoded: DecodedRecord) -> Subject? {
        if let request = decoded.request {
            guard let limitedUse = request.limitedUse, let app = request.appIndex else { return nil }
            return Subject(app: app, verb: request.verb, limitedUse: limitedUse, keyID: request.keyID)
        }
        switch decoded.shape {
        case .deadLetter, .request, .command: return nil
        case .refused(_, let path, let keyID, _):
            // Refused before its body was read: the path still identifies the app.
            let account = RequestDecoder.account(of: path, in: registry)
            guard let app = account.app, let verb = account.verb, verb.hasEvents else { return nil }
            return Subject(app: app, verb: verb, limitedUse: false, keyID: keyID)
        }
    }

    /// The event's name. Debug tokens have separate names: no device is involved, so no rollout counts them.
    private static func name(of verdict: Verdict, _ verb: Verb) -> (String, Reason?)? {
        let isDebug = verb.token == .debug
        return switch verdict.outcome {
        case .accepted: (isDebug ? "DebugTokenSuccess" : "AppAttestSuccess", nil)
        case .refused(let reason, let status):
            switch reason {
            case _ where status.code == 503: nil
            case .rolloutNotAdmitted, .attestationRate, .riskTooHigh: ("AppAttestNotAdmitted", reason)
            default: (isDebug ? "DebugTokenFailure" : "AppAttestFailure", reason)
            }
        case .deferred, .deadLetter, .applied: nil
        }
    }
}

/// An event of an exchange, for steering rollouts and alarms. Contains no secrets.
package struct ExchangeEvent {
    let name: String
    /// ``RegisteredApp/name``.
    let app: String
    let verb: Verb
    let reason: Reason?
    let requestID: [UInt8]
    let time: EvaluationTime
    package var limitedUse = false
    package var rollout: RolloutDecision?
    /// The installation's or the key's ID; the event has a tag of it.
    package var device: [UInt8]?
    var debugToken: String?
    /// The traits that the object has; those of a refused request may be claims alone.
    var traits: DeviceTraits?
    var isRestored = false
    /// The metric, the one before it, and the environment that Apple counts in.
    var risk: (metric: UInt16, previous: UInt16?, environment: Environment)?
    /// The key's metric is greater than the app's `risk.above`.
    var isAbove = false

    package init(
        name: String,
        app: String,
        verb: Verb,
        reason: Reason?,
        requestID: [UInt8],
        time: EvaluationTime
    ) {
        (self.name, self.app, self.verb, self.reason) = (name, app, verb, reason)
        (self.requestID, self.time) = (requestID, time)
    }

    package var bytes: [UInt8] {
        var json = JSONWriter(capacity: 512)
        json.beginObject()
        json.member("event", name)
        json.member("app", app)
        json.member("method", verb.rawValue)
        if let reason { json.member("reason", reason.code) }
        json.member("requestId", utf8: requestID)
        json.member("limitedUse", limitedUse)
        if let rollout {
            json.member("bucket", rollout.bucket)
            json.member("percent", raw: Array(Rollout.percentText(rollout.parts).utf8))
        }
        if let device { json.member("device", validUTF8: DeviceTag.text(of: device)) }
        if let debugToken { json.member("debugToken", debugToken) }
        if let text = traits?.platform { json.member("platform", validUTF8: text.utf8) }
        if let text = traits?.osVersion { json.member("osVersion", validUTF8: text.utf8) }
        if let text = traits?.bundleVersion { json.member("bundleVersion", validUTF8: text.utf8) }
        if isRestored { json.member("restored", true) }
        if let risk {
            json.member("metric", UInt32(risk.metric))
            if let previous = risk.previous { json.member("previousMetric", UInt32(previous)) }
            json.member("environment", risk.environment.rawValue)
        }
        if isAbove { json.member("riskAbove", true) }
        json.key("at")
        ResultEncoder.write(time, into: &json)
        json.endObject()
        return json.takeBytes()
    }
}
