package import AppAttest
internal import JSON
package import Streams

/// The headers that the pipeline reads; of several with one name the last one counts.
package struct HeaderReading {
    /// nil where there is none.
    package private(set) var requestID: ExactText?
    /// `installation-id`: decides about the rollout. An id that is empty, longer than ``installationIDBytes`` or no
    /// UTF-8 counts as absent: the key ID replaces it, and the request is not refused.
    package private(set) var installationID: ExactText?
    /// `handshake: attestation` (exactly these bytes; any other value is ignored): the challenge is for an attestation.
    package private(set) var isAttestationHandshake = false
    package private(set) var traceHeaders: [RecordHeader] = []
    /// `reply-to`: the partition of the replies topic where the sender waits; −1 for a value that is not a partition's
    /// number, nil without the header.
    package private(set) var replyTo: Int32?

    package static let installationIDBytes = 256
    /// Headers may be empty, so a limit of bytes alone does not limit their number.
    package static let maxHeaders = 256

    /// No headers.
    init() {}

    /// - Returns: nil for headers over the limits, more than ``maxHeaders``, or a request id (only the last one is
    ///   looked at) that is empty, too long or no UTF-8.
    package init?(_ headers: [RecordHeader], headerBytes: Int, requestIDBytes: Int) {
        guard headers.count <= Self.maxHeaders else { return nil }
        var found = Found()
        let headers = headers.span
        for index in headers.indices {
            found.bytes += headers[index].name.count + (headers[index].value?.count ?? 0)
            if let name = Name(headers[index].name.span) { found.note(name, headers[index].value) }
        }
        self.init(consume found, headerBytes: headerBytes, requestIDBytes: requestIDBytes)
    }

    /// The same for a capture's line, whose headers have values and are few.
    init?(_ line: PlainCaptureLine, _ chunk: Span<UInt8>, headerBytes: Int, requestIDBytes: Int) {
        var found = Found()
        for index in 0..<line.headerCount {
            let (name, value) = line.header(index)
            found.bytes += name.count + value.count
            if let name = Name(chunk.extracting(name)) { found.note(name, Bytes.copy(chunk.extracting(value))) }
        }
        self.init(consume found, headerBytes: headerBytes, requestIDBytes: requestIDBytes)
    }

    private init?(_ found: consuming Found, headerBytes: Int, requestIDBytes: Int) {
        guard found.bytes <= headerBytes else { return nil }
        (traceHeaders, isAttestationHandshake) = (found.traceHeaders, found.isAttestationHandshake)
        replyTo = found.replyTo
        installationID = Self.text(found.installation, upTo: Self.installationIDBytes)
        guard found.hasRequestID else { return }
        guard let text = Self.text(found.requestID, upTo: requestIDBytes) else { return nil }
        requestID = text
    }

    /// - Returns: nil unless there are 1 to `limit` bytes of UTF-8.
    private static func text(_ bytes: [UInt8]?, upTo limit: Int) -> ExactText? {
        guard let bytes, !bytes.isEmpty, bytes.count <= limit else { return nil }
        return ExactText(validating: bytes)
    }

    /// The names that are read.
    private enum Name {
        case requestID, traceParent, traceState, installationID, handshake, replyTo

        init?(_ name: Span<UInt8>) {
            switch name.count {
            case 10 where JSONCursor.holds("request-id", name): self = .requestID
            case 11 where JSONCursor.holds("traceparent", name): self = .traceParent
            case 10 where JSONCursor.holds("tracestate", name): self = .traceState
            case 15 where JSONCursor.holds("installation-id", name): self = .installationID
            case 9 where JSONCursor.holds("handshake", name): self = .handshake
            case 8 where JSONCursor.holds("reply-to", name): self = .replyTo
            default: return nil
            }
        }
    }

    /// The contents of the headers, before the limits are judged.
    private struct Found {
        var bytes = 0
        var hasRequestID = false
        var requestID: [UInt8]?
        var installation: [UInt8]?
        var isAttestationHandshake = false
        var traceHeaders: [RecordHeader] = []
        var replyTo: Int32?

        mutating func note(_ name: Name, _ value: [UInt8]?) {
            switch name {
            case .requestID: (hasRequestID, requestID) = (true, value)
            case .traceParent: traceHeaders.append(RecordHeader(name: Array("traceparent".utf8), value: value))
            case .traceState: traceHeaders.append(RecordHeader(name: Array("tracestate".utf8), value: value))
            case .installationID: installation = value
            case .handshake: isAttestationHandshake = value == Array("attestation".utf8)
            case .replyTo: replyTo = Self.partition(value ?? [])
            }
        }

        /// A number as it is printed: digits alone, no zeros before it. −1 for any other text.
        private static func partition(_ text: [UInt8]) -> Int32 {
            guard (1...10).contains(text.count), text.count == 1 || text[0] != 0x30 else { return -1 }
            var number: Int64 = 0
            for digit in text {
                guard (0x30...0x39).contains(digit) else { return -1 }
                number = 10 * number + Int64(digit - 0x30)
            }
            return Int32(exactly: number) ?? -1
        }
    }
}
