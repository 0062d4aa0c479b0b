internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON
internal import Log

/// An event of an exchange, for steering rollouts and alarms. Contains no secrets.
struct EventEncoder {
    private let registry: Registry
    /// The apps' names as JSON, by index.
    private let names: [[UInt8]]

    init(registry: Registry) {
        self.registry = registry
        names = registry.apps.map { app in
            var json = JSONWriter(capacity: 64)
            json.string(app.name)
            return json.takeBytes()
        }
    }

    /// - Returns: nil for other verbs, for duplicates, and for requests answered with 503: a deferral, a record that
    ///   came late or under a wrong key. None of these is the device's failure.
    func encode(_ decoded: DecodedRecord, _ finding: Finding, _ verdict: Verdict) -> [UInt8]? {
        // Other verbs are known without reading the path again.
        if let method = decoded.method, !method.hasEvents { return nil }
        guard !verdict.isDuplicate, let subject = subject(of: decoded),
            let (name, reason) = Self.name(of: verdict, subject.method)
        else {
            return nil
        }
        var json = JSONWriter(capacity: 512)
        json.beginObject()
        json.key("event")
        json.string(name)
        json.key("app")
        json.raw(names[subject.app])
        json.key("method")
        json.string(subject.method.rawValue)
        if let reason {
            json.key("reason")
            json.string(reason.code)
        }
        json.key("requestId")
        json.string(validUTF8: decoded.requestID.utf8)
        json.key("limitedUse")
        json.value(subject.limitedUse)
        if let rollout = verdict.rollout {
            json.key("bucket")
            json.value(rollout.bucket)
            json.key("percent")
            json.raw(Array(Rollout.percentText(rollout.parts).utf8))
        }
        if let id = decoded.installationID.map({ Array($0.utf8) }) ?? subject.keyID?.recordKey {
            json.key("device")
            json.string(validUTF8: DeviceTag.text(of: id))
        }
        if case .debugToken(let hash, _)? = decoded.request?.body,
            let token = registry.apps[subject.app].debugToken(hash)
        {
            json.key("debugToken")
            json.string(token.name)
        }
        Self.write(DeviceTraits(finding, decoded.request), into: &json)
        if verdict.isRestored {
            json.key("restored")
            json.value(true)
        }
        json.key("at")
        ResultEncoder.write(EvaluationTime(milliseconds: max(0, decoded.record.timestamp)), into: &json)
        json.endObject()
        return json.takeBytes()
    }

    /// Writes the traits that the object has; those of a refused request may be claims alone.
    private static func write(_ traits: DeviceTraits, into json: inout JSONWriter) {
        let members: [(StaticString, ExactText?)] = [
            ("platform", traits.platform), ("osVersion", traits.osVersion), ("bundleVersion", traits.bundleVersion),
        ]
        for (name, text) in members {
            guard let text else { continue }
            json.key(name)
            json.string(validUTF8: text.utf8)
        }
    }

    private struct Subject {
        /// Index into the registry's apps.
        let app: Int
        let method: Method
        let limitedUse: Bool
        let keyID: KeyID?
    }

    private func subject(of decoded: DecodedRecord) -> Subject? {
        if let request = decoded.request {
            guard let limitedUse = request.limitedUse, let app = request.appIndex else { return nil }
            return Subject(app: app, method: request.method, limitedUse: limitedUse, keyID: request.keyID)
        }
        switch decoded.shape {
        case .deadLetter, .request, .command: return nil
        case .refused(_, let path, let keyID, _):
            // Refused before its body was read: the path still identifies the app.
            let account = RequestDecoder.account(of: path, in: registry)
            guard let app = account.app, let method = account.method, method.hasEvents else { return nil }
            return Subject(app: app, method: method, limitedUse: false, keyID: keyID)
        }
    }

    /// The event's name. Debug tokens have separate names: no device is involved, so no rollout counts them.
    private static func name(of verdict: Verdict, _ method: Method) -> (String, Reason?)? {
        let isDebug = method.token == .debug
        return switch verdict.outcome {
        case .accepted: (isDebug ? "DebugTokenSuccess" : "AppAttestSuccess", nil)
        case .refused(let reason, let status):
            switch reason {
            case _ where status.code == 503: nil
            case .rolloutNotAdmitted, .attestationRate: ("AppAttestNotAdmitted", reason)
            default: (isDebug ? "DebugTokenFailure" : "AppAttestFailure", reason)
            }
        case .deferred, .deadLetter, .applied: nil
        }
    }
}
