/// An object explained: its fields as far as they can be read, and its checks in the order in which they are judged.
package struct ObjectReport: Sendable, Equatable {
    package enum Kind: String, Sendable { case attestation, assertion, receipt }

    package let kind: Kind
    package let fields: [ReportField]
    package let checks: [ReportCheck]

    /// The first failed check's reason; nil if all that could be judged passed.
    package var refusal: Refusal? {
        for check in checks {
            if case .failed(let refusal) = check.outcome { return refusal }
        }
        return nil
    }
}

/// One check: its name, the reasons it can give, and its outcome.
package struct ReportCheck: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case passed
        case failed(Refusal)
        /// It failed, and the app's policy only reports that.
        case reported(Refusal)
        /// An earlier check failed.
        case notReached
        /// There was nothing to judge by: an argument or a part of the object is missing.
        case notJudged
    }

    package let name: String
    package let codes: [String]
    package let outcome: Outcome
    /// What was presented and expected here; of a failed check, for its reason.
    package let comparisons: [Comparison]
}
