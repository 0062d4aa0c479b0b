internal import AppAttest
internal import AppCheck
internal import JSON
internal import Pipeline

/// The gateway's own decisions about a device: challenges, and the rollout's share.
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

    /// A refusal of the gateway's own, with the event that a worker would write of it.
    struct Refusal {
        let event: String
        /// ``RegisteredApp/name``.
        let app: String
        let method: Method
        let reason: Reason
        var limitedUse = false
        var decision: RolloutDecision?
    }

    static func event(_ refusal: Refusal, installation: ExactText?, id: [UInt8], at time: EvaluationTime) -> [UInt8] {
        var json = JSONWriter(capacity: 384)
        json.beginObject()
        json.key("event")
        json.string(refusal.event)
        json.key("app")
        json.string(refusal.app)
        json.key("method")
        json.string(refusal.method.rawValue)
        json.key("reason")
        json.string(refusal.reason.code)
        json.key("requestId")
        json.string(utf8: id)
        json.key("limitedUse")
        json.value(refusal.limitedUse)
        if let decision = refusal.decision {
            json.key("bucket")
            json.value(decision.bucket)
            json.key("percent")
            json.raw(Array(Rollout.percentText(decision.parts).utf8))
        }
        if let installation {
            json.key("device")
            json.string(validUTF8: DeviceTag.text(of: installation.utf8))
        }
        json.key("at")
        json.string(validUTF8: time.rfc3339)
        json.endObject()
        return json.takeBytes()
    }
}

/// Limits the events of devices, which need to prove nothing to cause one.
struct EventGate {
    /// Far more than a rollout's devices ask for at one gateway.
    static let mostPerSecond = 500

    private var second: Int64 = 0
    private var count = 0
    private var last: Int32 = 0

    /// The next partition in turn, since events have no key; nil = the limit of this second is reached.
    mutating func partition(in second: Int64, of partitions: Int32) -> Int32? {
        if second != self.second { (self.second, count) = (second, 0) }
        guard count < Self.mostPerSecond else { return nil }
        count += 1
        last = (last + 1) % partitions
        return last
    }
}
