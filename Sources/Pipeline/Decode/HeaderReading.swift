package import AppAttest
package import Log

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

    package static let installationIDBytes = 256
    /// Headers may be empty, so a limit of bytes alone does not limit their number.
    package static let maxHeaders = 256

    /// - Returns: nil for headers over the limits, more than ``maxHeaders``, or a request id (only the last one is
    ///   looked at) that is empty, too long or no UTF-8.
    package init?(_ headers: [RecordHeader], headerBytes: Int, requestIDBytes: Int) {
        guard headers.count <= Self.maxHeaders else { return nil }
        var total = 0
        var requestID: RecordHeader?
        var installation: RecordHeader?
        for header in headers {
            total += header.name.count + (header.value?.count ?? 0)
            if header.name.elementsEqual("request-id".utf8) {
                requestID = header
            } else if header.name.elementsEqual("traceparent".utf8) || header.name.elementsEqual("tracestate".utf8) {
                traceHeaders.append(header)
            } else if header.name.elementsEqual("installation-id".utf8) {
                installation = header
            } else if header.name.elementsEqual("handshake".utf8) {
                isAttestationHandshake = header.value?.elementsEqual("attestation".utf8) ?? false
            }
        }
        guard total <= headerBytes else { return nil }
        installationID = Self.text(installation?.value, upTo: Self.installationIDBytes)
        guard let requestID else { return }
        guard let text = Self.text(requestID.value, upTo: requestIDBytes) else { return nil }
        self.requestID = text
    }

    /// - Returns: nil unless there are 1 to `limit` bytes of UTF-8.
    private static func text(_ bytes: [UInt8]?, upTo limit: Int) -> ExactText? {
        guard let bytes, !bytes.isEmpty, bytes.count <= limit else { return nil }
        return ExactText(validating: bytes)
    }
}
