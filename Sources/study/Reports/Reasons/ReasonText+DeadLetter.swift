package import AppCheck

/// Reasons of dead letters.
extension ReasonText {
    package static func of(_ reason: DeadLetterReason) -> ReasonText {
        switch reason {
        case .nullValue: .letterNullValue
        case .tooLarge: .letterTooLarge
        case .badHeaders: .letterBadHeaders
        case .notJSON: .letterNotJson
        case .noPath: .letterNoPath
        case .internal: .letterInternal
        }
    }

    static let letterNullValue = ReasonText(
        "The record has no value.",
        [.gateway],
        "Find the producer. The requests topic must not be compacted."
    )
    static let letterTooLarge = ReasonText(
        """
        The value is larger than `limits.valueBytes`, or an output of the request is larger than the client's \
        `message.max.bytes`.
        """,
        [.gateway, .operator],
        "Refuse such bodies at the gateway, or raise `message.max.bytes` in kafka.properties."
    )
    static let letterBadHeaders = ReasonText(
        """
        More than `limits.headerBytes` or more than 256 headers, unreadable headers, or a `request-id` that \
        is empty, too long or not UTF-8.
        """,
        [.gateway],
        "Correct the gateway."
    )
    static let letterNotJson = ReasonText(
        "The value is not strict UTF-8 JSON.",
        [.gateway],
        "Find the producer."
    )
    static let letterNoPath = ReasonText(
        "The JSON has no `path` that is a string.",
        [.gateway],
        "Find the producer."
    )
    static let letterInternal = ReasonText(
        "A bug of the program: the request crashed it three times, or reached a state that must not exist.",
        [.operator],
        """
        Report it, with the record. See \
        [ExactlyOnce, Requests that crash the worker](ExactlyOnce.md#requests-that-crash-the-worker).
        """
    )
}
