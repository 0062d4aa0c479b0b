package import AppCheck
internal import Settings

/// A reason explained: the texts of the command `reasons` and of the page Reasons, which a test compares.
package struct ReasonText: Sendable, Equatable {
    /// Who to look at first.
    package enum Party: String, Sendable, CaseIterable {
        case app, device, gateway, `operator`, attacker

        package var meaning: String {
            switch self {
            case .app: "the app's own code (this build of it), or the way it calls the App Attest API"
            case .device: "the device or its operating system"
            case .gateway: "the service that writes the requests topic"
            case .operator: "the configuration or the state of the worker and its topics"
            case .attacker: "a caller that forges or replays objects (a single case is often an app error)"
            }
        }
    }

    /// The meaning in Markdown, as ``action`` is.
    package let meaning: String
    package let parties: [Party]
    package let action: String

    init(_ meaning: String, _ parties: [Party], _ action: String) {
        (self.meaning, self.parties, self.action) = (meaning, parties, action)
    }

    /// A reason that objects of a real device never have.
    static func rare(_ meaning: String) -> ReasonText { ReasonText(meaning, [.attacker], "Nothing while it is rare.") }

    /// Markdown for a terminal.
    package static func plain(_ markdown: String) -> String { PageText.plain(markdown) }
}

/// A reason with its name, its answer and its text.
package struct ReasonEntry: Sendable {
    package let code: String
    /// nil for a dead letter, which has no answer.
    package let status: Status?
    package let verdict: String
    package let text: ReasonText

    /// Every reason, checks of objects first, in the order in which they are judged.
    package static let all: [ReasonEntry] =
        Reason.allCases.map { reason -> ReasonEntry in
            let (status, verdict) = (reason.status(appID: nil), reason.isDeferral ? "deferred" : "refused")
            return ReasonEntry(code: reason.code, status: status, verdict: verdict, text: .of(reason))
        }
        + DeadLetterReason.allCases.map { reason -> ReasonEntry in
            ReasonEntry(code: reason.rawValue, status: nil, verdict: "dead letter", text: .of(reason))
        }

    package static func find(_ code: String) -> ReasonEntry? { all.first { $0.code == code } }
}

extension ReasonText {
    package static func of(_ reason: DeadLetterReason) -> ReasonText {
        switch reason {
        case .nullValue: .letterNullValue
        case .tooLarge: .letterTooLarge
        case .badHeaders: .letterBadHeaders
        case .notJSON: .init("The value is not strict UTF-8 JSON.", [.gateway], "Find the producer.")
        case .noPath: .init("The JSON has no `path` that is a string.", [.gateway], "Find the producer.")
        case .internal: .letterInternal
        }
    }

    static let letterNullValue = ReasonText(
        "The record has no value.",
        [.gateway],
        "Find the producer. The requests topic must not be compacted."
    )
    static let letterTooLarge = ReasonText(
        "The value is larger than `limits.valueBytes`, or an output of the request is larger than the client's "
            + "`message.max.bytes`.",
        [.gateway, .operator],
        "Refuse such bodies at the gateway, or raise `message.max.bytes` in kafka.properties."
    )
    static let letterBadHeaders = ReasonText(
        "More than `limits.headerBytes` or more than 256 headers, unreadable headers, or a `request-id` that is "
            + "empty, too long or not UTF-8.",
        [.gateway],
        "Correct the gateway."
    )
    static let letterInternal = ReasonText(
        "A bug of the program: the request crashed it three times, or reached a state that must not exist.",
        [.operator],
        "Report it, with the record. See "
            + "[ExactlyOnce, Requests that crash the worker](ExactlyOnce.md#requests-that-crash-the-worker)."
    )
}
