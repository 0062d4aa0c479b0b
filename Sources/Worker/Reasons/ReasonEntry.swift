package import AppCheck

/// A reason with its name, its answer and its text.
package struct ReasonEntry: Sendable {
    package let code: String
    /// nil for a dead letter, which has no answer.
    package let status: Status?
    package let verdict: String
    package let text: ReasonText

    private init(_ reason: Reason) {
        code = reason.code
        status = reason.status(appID: nil)
        verdict = reason.isDeferral ? "deferred" : "refused"
        text = .of(reason)
    }

    private init(_ reason: DeadLetterReason) {
        code = reason.rawValue
        status = nil
        verdict = "dead letter"
        text = .of(reason)
    }

    /// Every reason, checks of objects first, in the order in which they are judged.
    package static let all: [ReasonEntry] =
        Reason.allCases.map { ReasonEntry($0) } + DeadLetterReason.allCases.map { ReasonEntry($0) }

    package static func find(_ code: String) -> ReasonEntry? { all.first { $0.code == code } }
}
