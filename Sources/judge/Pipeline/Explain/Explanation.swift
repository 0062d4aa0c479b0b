package import AppAttest
package import AppCheck
internal import Streams

/// Why a record got its verdict: the checks that gave it, with what was presented and expected.
package struct Explanation: Sendable {
    /// The result's verdict: `accepted`, `refused`, `deferred`; or `dead-letter`.
    package let verdict: String
    package let reason: String?
    package let record: DecodedRecord
    /// A request that was answered before.
    package let isDuplicate: Bool
    /// The ``RegisteredApp/name``; nil where the path names no configured app.
    package let app: String?
    /// Its ``RegisteredApp/label``.
    package let appLabel: String?
    package let verb: Verb?
    package let keyID: KeyID?
    /// The key's record that the record met.
    package let key: KeyRecord?
    /// The key and the times that the record met, as fields.
    package let state: [ReportField]
    /// The device's object, as far as it can be read.
    package let object: ObjectReport?
    /// The object's own account of the device; nil for a request without one.
    package let device: DeviceTraits?
    /// The attestation of an unknown key, which was not accepted.
    package let attestation: EarlierRefusals.Refusal?
    package let checks: [TracedCheck]

    /// The presented and expected values where the pipeline's reason is judged; before it, what has led to it.
    package var comparisons: [Comparison] {
        (attestation.map { [$0.comparison] } ?? []) + (failedCheck?.comparisons ?? [])
    }

    /// The reading of the object under which the check would pass.
    package var reading: FittingReading? { failedCheck?.reading }

    private var failedCheck: TracedCheck? { checks.first { $0.outcome == reason.map { .failed($0) } } }
}
