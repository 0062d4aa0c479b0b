package import AppAttest
internal import JSON
package import Streams

/// The headers that the pipeline reads; of several with one name the last one counts.
package struct HeaderReading {
    /// nil where there is none.
    package var requestID: ExactText?
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
}

extension HeaderReading {
    /// - Returns: nil for headers over the limits, more than ``maxHeaders``, or a request id (only the last one is
    ///   looked at) that is empty, too long or no UTF-8.
    package init?(_ headers: [RecordHeader], headerBytes: Int, requestIDBytes: Int) {
        guard headers.count <= Self.maxHeaders else { return nil }
        var (found, traces) = (Found(), [RecordHeader]())
        let span = headers.span
        for index in span.indices {
            found.bytes += span[index].name.count + (span[index].value?.count ?? 0)
            guard let name = Name(span[index].name.span) else { continue }
            if name == .trace { traces.append(span[index]) } else { found[name] = index }
        }
        self.init(found, traces, headerBytes: headerBytes, requestIDBytes: requestIDBytes) { headers[$0].value }
    }

    /// The same for a capture's line, whose headers have values and are few.
    init?(_ line: PlainCaptureLine, _ chunk: Span<UInt8>, headerBytes: Int, requestIDBytes: Int) {
        var (found, traces) = (Found(), [RecordHeader]())
        for index in 0..<line.headerCount {
            let (name, value) = (chunk.extracting(line.header(index).name), chunk.extracting(line.header(index).value))
            found.bytes += name.count + value.count
            guard let known = Name(name) else { continue }
            if known == .trace {
                traces.append(RecordHeader(name: Bytes.copy(name), value: Bytes.copy(value)))
            } else {
                found[known] = index
            }
        }
        self.init(found, traces, headerBytes: headerBytes, requestIDBytes: requestIDBytes) {
            Bytes.copy(chunk.extracting(line.header($0).value))
        }
    }

    private init?(
        _ found: Found,
        _ traces: [RecordHeader],
        headerBytes: Int,
        requestIDBytes: Int,
        value: (Int) -> [UInt8]?
    ) {
        guard found.bytes <= headerBytes else { return nil }
        var requestID: ExactText?
        if let place = found[.requestID] {
            guard let text = Self.text(value(place), upTo: requestIDBytes) else { return nil }
            requestID = text
        }
        self.init(
            requestID: requestID,
            installationID: found[.installationID].flatMap { Self.text(value($0), upTo: Self.installationIDBytes) },
            isAttestationHandshake: found[.handshake].map { value($0) == Array("attestation".utf8) } ?? false,
            traceHeaders: traces,
            replyTo: found[.replyTo].map { Self.partition(value($0) ?? []) }
        )
    }

    /// - Returns: nil unless there are 1 to `limit` bytes of UTF-8.
    private static func text(_ bytes: [UInt8]?, upTo limit: Int) -> ExactText? {
        guard let bytes, !bytes.isEmpty, bytes.count <= limit else { return nil }
        return ExactText(validating: bytes)
    }

    /// The names that are read.
    private enum Name: Int {
        case requestID, installationID, handshake, replyTo, trace

        init?(_ name: Span<UInt8>) {
            switch name.count {
            case 10 where JSONCursor.holds("request-id", name): self = .requestID
            case 11 where JSONCursor.holds("traceparent", name): self = .trace
            case 10 where JSONCursor.holds("tracestate", name): self = .trace
            case 15 where JSONCursor.holds("installation-id", name): self = .installationID
            case 9 where JSONCursor.holds("handshake", name): self = .handshake
            case 8 where JSONCursor.holds("reply-to", name): self = .replyTo
            default: return nil
            }
        }
    }

    /// The last header of each name but the traces, by its place: their values are not touched before the limits are judged.
    private struct Found {
        var bytes = 0
        private var places = InlineArray<4, Int?>(repeating: nil)

        subscript(name: Name) -> Int? {
            get { places[name.rawValue] }
            set { places[name.rawValue] = newValue }
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
