internal import AppAttest
internal import AppCheck
internal import JSON
internal import Pipeline

/// What the gateway decides itself about a device: challenges, and the rollout's share.
enum DeviceGate {
    /// The answer to `:rollout`.
    static func body(_ decision: RolloutDecision?) -> [UInt8] {
        var json = JSONWriter(capacity: 96)
        json.beginObject()
        json.key("admitted")
        json.value(decision?.isAdmitted ?? true)
        if let decision {
            json.key("bucket")
            json.value(decision.bucket)
            json.key("percent")
            json.raw(Array(Rollout.percentText(decision.parts).utf8))
        }
        json.endObject()
        return json.takeBytes()
    }

    /// The event of a device that was kept from attesting: the same as at the exchange itself.
    ///
    /// - Parameter app: ``RegisteredApp/name``.
    static func event(
        app: String,
        _ decision: RolloutDecision,
        installation: ExactText,
        id: [UInt8],
        at time: EvaluationTime
    ) -> [UInt8] {
        var json = JSONWriter(capacity: 384)
        json.beginObject()
        json.key("event")
        json.string("AppAttestNotAdmitted")
        json.key("app")
        json.string(app)
        json.key("method")
        json.string(Method.exchangeAppAttestAttestation.rawValue)
        json.key("reason")
        json.string(Reason.rolloutNotAdmitted.code)
        json.key("requestId")
        json.string(utf8: id)
        json.key("limitedUse")
        json.value(false)
        json.key("bucket")
        json.value(decision.bucket)
        json.key("percent")
        json.raw(Array(Rollout.percentText(decision.parts).utf8))
        json.key("device")
        json.string(validUTF8: DeviceTag.text(of: installation.utf8))
        json.key("at")
        json.string(validUTF8: time.rfc3339)
        json.endObject()
        return json.takeBytes()
    }
}
