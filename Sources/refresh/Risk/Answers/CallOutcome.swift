package import AppAttest

/// How a call ended: what becomes of its record, and what it says of the calls that follow.
package enum CallOutcome: Sendable, Equatable {
    /// 200 with a receipt that is Apple's answer to the one that was sent.
    case verified(ReceiptVerdict)
    /// 200 with anything else.
    case invalid(InvalidReceipt)
    case notGenuine(RefreshRefusal)
    case early
    case absent
    case refused(ReceiptComplaint)
    case unexpected
    case unauthorized
    case throttled
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
        case .invalid(let reason): self = .invalid(reason)
        case .early: self = .early
        case .absent: self = .absent
        case .refused(let complaint): self = .refused(complaint)
        case .unauthorized: self = .unauthorized
        case .throttled: self = .throttled
        case .unavailable: self = .unavailable
        case .unexpected: self = .unexpected
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
    package var isFinal: Bool {
        switch self {
        case .verified, .invalid, .notGenuine, .early, .absent, .refused, .unexpected: true
        case .unauthorized, .throttled, .unavailable, .timedOut, .transport: false
        }
    }

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
package enum CallFailure: Int, Sendable, CaseIterable {
    /// An answer that is not understood, or a refusal of what was sent: our fault would use up all receipts.
    case answer
    /// Too many calls, errors of the server, no answer.
    case pressure
    /// Answers 401: the key's fault, or its receipts'.
    case unauthorized

    package var name: String {
        switch self {
        case .answer: "invalid-answer"
        case .pressure: "unavailable"
        case .unauthorized: "unauthorized"
        }
    }

    /// Failures in a row at which calls stop.
    package var mostInRow: Int {
        switch self {
        case .answer, .unauthorized: 10
        case .pressure: 20
        }
    }
}
