package import AppAttest
package import AppCheck
package import Crypto

/// A record after Decode: its request's shape is known, nothing is verified. Immutable and shared by the stages, so that
/// handing it on costs one reference.
package final class DecodedRecord: Sendable {
    package enum Shape: Sendable {
        case request(Request)
        /// Refused for its shape alone: no state is asked.
        case refused(Reason, path: ExactText, keyID: KeyID?, status: Status)
        case deadLetter(DeadLetterReason)
    }

    /// As polled; value and headers are kept for dead letters only, which carry them on.
    package let record: InboundRecord
    package let requestID: ExactText
    package let shape: Shape
    /// SHA-256 of the value: with the request id it tells a redelivery.
    package let valueDigest: Digest
    /// Older or newer than live mode allows; judged after the duplicate check.
    package let clockReason: Reason?
    /// An attestation's own public key, where its SHA-256 is the key ID: what assertions of the same batch ride on.
    package let claimedKey: P256PublicKey?
    /// `traceparent` and `tracestate`, copied to every output.
    package let traceHeaders: [RecordHeader]
    /// What the rollout rolls its dice for, where the gateway says it.
    package let installationID: ExactText?
    /// A challenge that an attestation is to be made for.
    package let isAttestationHandshake: Bool
    /// The log would not take what became of it: only the shortest dead letter is tried.
    package let isPoisonous: Bool

    init(
        record: consuming InboundRecord,
        requestID: consuming ExactText,
        shape: consuming Shape,
        valueDigest: Digest,
        clockReason: Reason?,
        claimedKey: P256PublicKey?,
        traceHeaders: [RecordHeader],
        installationID: ExactText? = nil,
        isAttestationHandshake: Bool = false,
        isPoisonous: Bool = false
    ) {
        self.record = record
        self.requestID = requestID
        self.shape = shape
        self.valueDigest = valueDigest
        self.clockReason = clockReason
        self.claimedKey = claimedKey
        self.traceHeaders = traceHeaders
        self.installationID = installationID
        self.isAttestationHandshake = isAttestationHandshake
        self.isPoisonous = isPoisonous
    }
}
