internal import AppAttest
internal import AppCheck
internal import JSON

/// An event of one of the two exchanges: what rollouts and alarms are steered by. Nothing secret.
struct EventEncoder {
    private let registry: Registry

    init(registry: Registry) { self.registry = registry }

    /// - Returns: nil for other verbs, for duplicates, and for what is only deferred.
    func encode(_ decoded: DecodedRecord, _ verdict: Verdict) -> [UInt8]? {
        guard !verdict.isDuplicate, let subject = subject(of: decoded), let (name, reason) = Self.name(of: verdict)
        else {
            return nil
        }
        var json = JSONWriter(capacity: 384)
        json.beginObject()
        json.key("event")
        json.string(name)
        json.key("app")
        json.string(subject.app)
        json.key("method")
        json.string(subject.method.rawValue)
        if let reason {
            json.key("reason")
            json.string(reason.code)
        }
        json.key("requestId")
        json.string(decoded.requestID)
        json.key("limitedUse")
        json.value(subject.limitedUse)
        if let rollout = verdict.rollout {
            json.key("bucket")
            json.value(rollout.bucket)
            json.key("percent")
            json.raw(Array(Rollout.percentText(rollout.parts).utf8))
        }
        if verdict.isRestored {
            json.key("restored")
            json.value(true)
        }
        json.key("at")
        ResultEncoder.write(EvaluationTime(milliseconds: max(0, decoded.record.timestamp)), into: &json)
        json.endObject()
        return json.takeBytes()
    }

    private struct Subject {
        let app: String
        let method: Method
        let limitedUse: Bool
    }

    private func subject(of decoded: DecodedRecord) -> Subject? {
        switch decoded.shape {
        case .deadLetter: return nil
        case .refused(_, let path, _, _):
            // Refused before its body was known: the path still tells whose failure it is.
            guard let (app, method) = RequestDecoder.target(of: path, in: registry), method.isExchange else {
                return nil
            }
            return Subject(app: registry.apps[app].name, method: method, limitedUse: false)
        case .request(let request):
            let limitedUse: Bool
            switch request.body {
            case .exchangeAttestation(_, _, let wanted), .exchangeAssertion(_, _, _, let wanted): limitedUse = wanted
            case .verifyAttestation, .verifyAssertion, .generateChallenge, .verifyToken: return nil
            }
            guard let app = request.appIndex else { return nil }
            return Subject(app: registry.apps[app].name, method: request.method, limitedUse: limitedUse)
        }
    }

    private static func name(of verdict: Verdict) -> (String, Reason?)? {
        switch verdict.outcome {
        case .accepted: ("AppAttestSuccess", nil)
        case .refused(let reason, _):
            switch reason {
            case .rolloutNotAdmitted, .attestationRate: ("AppAttestNotAdmitted", reason)
            default: ("AppAttestFailure", reason)
            }
        case .deferred, .deadLetter, .applied: nil
        }
    }
}

extension Method {
    fileprivate static let exchanges: [Method] = [.exchangeAppAttestAttestation, .exchangeAppAttestAssertion]
    fileprivate var isExchange: Bool { Self.exchanges.contains(self) }
}
