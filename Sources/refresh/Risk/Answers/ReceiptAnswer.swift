package import AppAttest
internal import JSON

/// Apple's answer to one receipt, read from HTTP. Any bytes are taken: what is not understood is `invalid`.
package struct ReceiptAnswer: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        /// 200: a receipt that nobody has verified yet.
        case receipt([UInt8])
        /// 200 without one.
        case invalid(InvalidReceipt)
        /// 304: before the Not Before of the receipt that was sent, or it was exchanged already.
        case early
        /// 404: no data, as 30 days after the last attestation.
        case absent
        /// 400.
        case refused(ReceiptComplaint)
        /// 401: the token is invalid, or not of the receipt's team.
        case unauthorized
        /// 429.
        case throttled
        /// 5xx, and numbers that HTTP does not have.
        case unavailable
        /// Any other answer: 202, redirects, 403, 413.
        case unexpected
    }

    /// The longest body that is read.
    package static let mostBodyBytes = 16 * 1_024

    package let status: Int
    package let content: Content
    package let retryAfterMilliseconds: Int64?
    /// The server's clock, in whole seconds.
    package let serverTime: EvaluationTime?
    /// 16 or 32 hexadecimal digits, for a line in the log that Apple can look up.
    package let traceID: [UInt8]?

    /// - Parameters:
    ///   - headers: names in any case; of several equal ones the last counts.
    ///   - body: may be cut behind ``mostBodyBytes`` and one more.
    ///   - time: what a Retry-After with a date is compared with where the answer has no date of its own.
    package init(
        status: Int,
        headers: [(name: String, value: [UInt8])],
        body: [UInt8],
        at time: EvaluationTime
    ) {
        self.status = status
        let serverTime = Self.value("date", of: headers).flatMap { HTTPDate.time($0.span) }
        self.serverTime = serverTime
        traceID = Self.value("x-b3-traceid", of: headers).flatMap(Self.traceID)
        retryAfterMilliseconds = Self.value("retry-after", of: headers)
            .flatMap { Self.retryAfter($0, at: serverTime ?? time) }
        content = Self.content(status, body)
    }

    private static func content(_ status: Int, _ body: [UInt8]) -> Content {
        switch status {
        case 200: receipt(body)
        case 304: .early
        case 400: .refused(ReceiptComplaint(body))
        case 401: .unauthorized
        case 404: .absent
        case 429: .throttled
        case 201..<500: .unexpected
        default: .unavailable
        }
    }

    private static func receipt(_ body: [UInt8]) -> Content {
        guard body.count <= mostBodyBytes else { return .invalid(.tooLong) }
        let bytes = body.span
        let text = bytes.extracting(HeaderText.trimmed(bytes))
        guard !text.isEmpty else { return .invalid(.empty) }
        for index in text.indices where text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "_") {
            return .invalid(.notBase64)
        }
        guard let receipt = Base64.decode(text), !receipt.isEmpty else { return .invalid(.notBase64) }
        return .receipt(receipt)
    }
}

/// Why an answer 200 has no receipt that could be verified.
package enum InvalidReceipt: String, Sendable, CaseIterable {
    case empty
    case tooLong = "too-long"
    /// No strict Base64 in the standard alphabet.
    case notBase64 = "not-base64"
}

/// What an answer 400 complains about: its text alone tells.
package enum ReceiptComplaint: String, Sendable, CaseIterable {
    case incorrectEnvironment = "incorrect-environment"
    case badPayload = "bad-payload"
    case other

    init(_ body: [UInt8]) {
        let bytes = body.span
        let range = HeaderText.trimmed(bytes)
        let text = bytes.extracting(range)
        self = Self.texts.first { HeaderText.holds($0.text, text) }?.complaint ?? .other
    }

    private static let texts: [(text: String, complaint: ReceiptComplaint)] = [
        ("Incorrect Environment", .incorrectEnvironment), ("Bad Payload", .badPayload),
    ]
}
