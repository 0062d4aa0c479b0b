internal import JSON
internal import Pipeline
internal import Streams

/// Events as the worker writes them.
package struct MadeEvent {
    package var event: String
    package var app: String
    package var method: String
    package var reason: String?
    package var percent: String?
    package var device: String?
    package var at: String
    package var bundleVersion: String?

    package init(
        event: String = "AppAttestSuccess",
        app: String = KeyDirectory.app,
        method: String = "exchangeAppAttestAttestation",
        reason: String? = nil,
        percent: String? = "10",
        device: String? = nil,
        at: String = "2026-11-20T12:00:00.000Z",
        bundleVersion: String? = nil
    ) {
        (self.event, self.app, self.method, self.reason) = (event, app, method, reason)
        (self.percent, self.device, self.at, self.bundleVersion) = (percent, device, at, bundleVersion)
    }

    package var value: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, text) in [("event", event), ("app", app), ("method", method)] {
            writer.key(named: name)
            writer.string(text)
        }
        if let reason { writer.member("reason", reason) }
        writer.member("requestId", "r")
        writer.member("limitedUse", false)
        if let percent {
            writer.member("bucket", 7)
            writer.member("percent", raw: Array(percent.utf8))
        }
        if let device { writer.member("device", device) }
        if let bundleVersion { writer.member("bundleVersion", bundleVersion) }
        writer.member("at", at)
        writer.endObject()
        return writer.takeBytes()
    }

    package static func failure(_ reason: String) -> MadeEvent { MadeEvent(event: "AppAttestFailure", reason: reason) }
    package static let assertion = MadeEvent(method: "exchangeAppAttestAssertion", percent: nil)
    package static let notAdmitted = MadeEvent(event: "AppAttestNotAdmitted", reason: "rollout-not-admitted")

    /// A capture of such events.
    package static func capture(_ events: [MadeEvent]) -> [UInt8] {
        CaptureCodec.capture(
            events.enumerated().map { offset, event in
                InboundRecord(
                    topic: "appattest.events",
                    partition: 0,
                    offset: Int64(offset),
                    timestamp: 1_795_176_000_000,
                    key: nil,
                    value: event.value
                )
            }
        )
    }
}
