package import AppAttest

/// How a call ended: what becomes of its record, and what it says of the calls that follow.
package enum CallOutcome: Sendable, Equatable {
    /// 200 with a receipt that is Apple's answer to the one that was sent.
    case verified(ReceiptVerdict)
    /// 200 with anything else.
    case invalid(InvalidReceipt)
    case notGenuine(RefreshRefusal)
    /// 304: before the Not Before of the receipt that was sent, or it was exchanged already.
    case early
    /// 404: no data, as 30 days after the last attestation.
    case absent
    /// 400.
    case refused(ReceiptComplaint)
    /// Any other answer: 202, redirects, 403, 413.
    case unexpected
    /// 401: the token is invalid, or not of the receipt's team.
    case unauthorized
    /// 429.
    case throttled
    /// 5xx, and numbers that HTTP does not have.
    case unavailable
    case timedOut
    /// No connection, TLS, an answer that ends in the middle.
    case transport

    /// - Parameter judge: compares a receipt with the one that was sent.
    package init(_ answer: ReceiptAnswer, judge: ([UInt8]) -> Result<ReceiptVerdict, RefreshRefusal>) {
        switch answer.content {
        case .receipt(let receipt):
            switch judge(receipt) {
            case .success(let verdict): self = .verified(verdict)
            case .failure(let refusal): self = .notGenuine(refusal)
            }
        case .other(let outcome): self = outcome
        }
    }

    /// The value of the label `outcome`.
    package var name: String {
        switch self {
        case .verified: "verified"
        case .invalid, .notGenuine: "invalid-answer"
        case .early: "early"
        case .absent: "absent"
        case .refused(let complaint): complaint == .other ? "refused" : complaint.rawValue
        case .unexpected: "unexpected"
        case .unauthorized: "unauthorized"
        case .throttled: "throttled"
        case .unavailable: "unavailable"
        case .timedOut: "timed-out"
        case .transport: "transport"
        }
    }

    /// Whether the exchange has ended; otherwise the same receipt is worth another call.
    package var isFinal: Bool { failure == nil || failure == .answer }

    /// nil = no failure.
    package var failure: CallFailure? {
        switch self {
        case .verified, .early, .absent: nil
        case .invalid, .notGenuine, .refused, .unexpected: .answer
        case .throttled, .unavailable, .timedOut, .transport: .pressure
        case .unauthorized: .unauthorized
        }
    }
}

/// What a failed call says of those that follow.
package enum CallFailure: String, Sendable {
    /// An answer that is not understood, or a refusal of what was sent: our fault would use up all receipts.
    case answer = "invalid-answer"
    /// Too many calls, errors of the server, no answer.
    case pressure = "unavailable"
    /// Answers 401: the key's fault, or its receipts'.
    case unauthorized

    /// Failures in a row at which calls stop.
    var mostInRow: Int { self == .pressure ? 20 : 10 }
}
