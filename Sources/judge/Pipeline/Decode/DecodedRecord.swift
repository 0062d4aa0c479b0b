package import AppAttest
package import AppCheck
package import Crypto
package import Streams

/// A record after Decode: its request's shape is known, nothing is verified. Immutable and shared by the stages, so
/// that passing it on costs one reference.
package final class DecodedRecord: Sendable {
    package enum Shape: Sendable {
        case request(Request)
        /// Indirect, since few records are one, and each has the room.
        indirect case command(AuthenticCommand, path: ExactText)
        /// Refused for its shape alone, without looking at the state.
        case refused(Reason, path: ExactText, keyID: KeyID?, status: Status)
        case deadLetter(DeadLetterReason)
    }

    /// The record as polled. Only dead letters keep value and headers, which they repeat; a request keeps its value where
    /// ``PipelineSettings/keepsValues`` asks for it.
    package let record: InboundRecord
    package let requestID: ExactText
    /// nil for a record that is refused for its shape, or is not a request.
    package let request: Request?
    /// The other shapes.
    private let nonRequestShape: Shape?
    /// Copies of the request's members: reading them copies nothing. A refused record has none of them.
    package let keyID: KeyID?
    package let verb: Verb?
    /// Index into the registry's apps.
    package let appIndex: Int?
    /// An exchange whose body has no member `limitedUse`, as clients from before such tokens write it.
    let leavesOutLimitedUse: Bool
    /// SHA-256 of the value: together with the request id it identifies a redelivery.
    package let valueDigest: Digest
    /// Older or newer than live mode allows; judged after the duplicate check.
    package let clockReason: Reason?
    /// An attestation's own public key, if its SHA-256 is the key ID: verifies assertions of the same batch.
    package let claimedKey: P256PublicKey?
    /// `traceparent` and `tracestate`, copied to every output.
    package let traceHeaders: [RecordHeader]
    /// The id that decides about the rollout, if the gateway sends it.
    package let installationID: ExactText?
    /// ``HeaderReading/replyTo``
    package let replyTo: Int32?
    /// The challenge is for an attestation.
    package let isAttestationHandshake: Bool
    /// An output of this record was refused: only the shortest dead letter is tried.
    package let isPoisonous: Bool

    /// - Parameter headers: with a request id, the record's own or another.
    init(
        record: consuming InboundRecord,
        headers: consuming HeaderReading,
        request: Request?,
        otherShape: Shape?,
        valueDigest: Digest,
        clockReason: Reason?,
        isPoisonous: Bool = false
    ) {
        if let request {
            (keyID, verb, appIndex) = (request.keyID, request.verb, request.appIndex)
            leavesOutLimitedUse = request.exchange.map { !$0.namesLimitedUse } ?? false
            claimedKey = request.claimedKey
        } else {
            (keyID, verb, appIndex, leavesOutLimitedUse, claimedKey) = (nil, nil, nil, false, nil)
        }
        (self.record, self.request, nonRequestShape) = (record, request, otherShape)
        guard let id = headers.requestID else { preconditionFailure("a record without an id is named by its place") }
        (requestID, installationID) = (id, headers.installationID)
        (traceHeaders, replyTo) = (headers.traceHeaders, headers.replyTo)
        isAttestationHandshake = headers.isAttestationHandshake
        (self.valueDigest, self.clockReason, self.isPoisonous) = (valueDigest, clockReason, isPoisonous)
    }

    package var shape: Shape { request.map { .request($0) } ?? nonRequestShape ?? .deadLetter(.internal) }

    /// The command of an operator.
    var command: AuthenticCommand? {
        if case .command(let command, _)? = nonRequestShape { command } else { nil }
    }

    /// Whether the request's object is an assertion.
    var bringsAssertion: Bool { verb?.bringsAssertion ?? false }
}

extension Request {
    /// An attestation's own public key: see ``DecodedRecord/claimedKey``.
    fileprivate var claimedKey: P256PublicKey? {
        guard verb.bringsAttestation, let attestation, let keyID else { return nil }
        return ClaimedKey.read(from: attestation, keyID: keyID)
    }
}

extension WorkSlot {
    /// Notes the record without a copy of it.
    func note(_ decoded: DecodedRecord) {
        let place = RecordPlace(partition: decoded.record.partition, offset: decoded.record.offset)
        note(RecordStamp(place, timestamp: decoded.record.timestamp, hasLogAppendTime: decoded.record.hasLogAppendTime))
    }
}

/// A lane's decoded grain: the polled records up to the first line that is not a record.
struct DecodedGrain {
    var records: [DecodedRecord] = []
    var fault: CaptureFault?
    /// Lines that are not records and were left out, as asked.
    var skippedLines = 0
}

/// Records that become dead letters before they are looked at.
struct Poison: Sendable {
    /// Their outputs were refused: they become dead letters.
    var refused: Set<RecordPlace> = []
    /// Their dead letters were refused: only the shortest is tried.
    var shortened: Set<RecordPlace> = []
    /// They crash the process.
    var crashing: Set<WorkItem> = []

    var isEmpty: Bool { refused.isEmpty && crashing.isEmpty }
}
