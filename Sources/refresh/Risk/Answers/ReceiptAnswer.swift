package import AppAttest
internal import JSON

/// Apple's answer to one receipt, read from HTTP. Any bytes are taken: what is not understood is `invalid`.
package struct ReceiptAnswer: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        /// 200: a receipt that nobody has verified yet.
        case receipt([UInt8])
        /// Anything else: how the call has ended, whatever was sent.
        case other(CallOutcome)
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
        let serverTime = Self.value("date", of: headers).flatMap(HTTPDate.time)
        self.serverTime = serverTime
        traceID = Self.value("x-b3-traceid", of: headers).flatMap(Self.traceID)
        retryAfterMilliseconds = Self.value("retry-after", of: headers)
            .flatMap { Self.retryAfter($0, at: serverTime ?? time) }
        content = Self.content(status, body)
    }

    private static func content(_ status: Int, _ body: [UInt8]) -> Content {
        switch status {
        case 200: receipt(body)
        case 304: .other(.early)
        case 400: .other(.refused(ReceiptComplaint(body)))
        case 401: .other(.unauthorized)
        case 404: .other(.absent)
        case 429: .other(.throttled)
        case 201..<500: .other(.unexpected)
        default: .other(.unavailable)
        }
    }

    private static func receipt(_ body: [UInt8]) -> Content {
        guard body.count <= mostBodyBytes else { return .other(.invalid(.tooLong)) }
        let text = Array(HeaderText.trimmed(body))
        guard !text.isEmpty else { return .other(.invalid(.empty)) }
        let isStandard = !text.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        guard isStandard, let receipt = Base64.decode(text), !receipt.isEmpty else {
            return .other(.invalid(.notBase64))
        }
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
        switch String(decoding: HeaderText.trimmed(body), as: UTF8.self) {
        case "Incorrect Environment": self = .incorrectEnvironment
        case "Bad Payload": self = .badPayload
        default: self = .other
        }
    }
}
