package import AppCheck

/// Counts of a grain's or batch's answers, by app, verb and what happened. Few kinds of answers make up a batch, so
/// they stand in a list: a record costs some comparisons and no allocation.
package struct AnswerCounts: Sendable, Equatable {
    /// An event that is counted of a record; one record may bring several.
    package enum Event: Hashable, Sendable {
        case accepted
        case refused(Reason)
        case deferred(Reason)
        case duplicate
        case deadLetter(DeadLetterReason)
        case minted(limitedUse: Bool, TokenSettings.Algorithm)
        /// A token was minted for a debug token.
        case debugToken
        /// A device in or outside the share: in `shadow` one outside of it is served all the same.
        case rollout(Rollout.Mode, isInside: Bool)
        /// A key that the ledger had lost.
        case restored
        case tokenUse(TokenUse)
        /// An accepted exchange without the member `limitedUse`.
        case outdated
        /// A `reply-to` that is not a partition of the replies topic.
        case replyIgnored
        /// A key's new metric, by its bucket of ``Histogram/riskMetric``.
        case risk(bucket: UInt8)
        /// The sum of these metrics.
        case riskSum
    }

    /// The uses of a token that verifyAppCheckToken found.
    package enum TokenUse: Hashable, Sendable {
        case firstUse, alreadyConsumed, session
        case invalid(TokenFault)

        /// The outcome and, of an invalid token, its cause.
        package var labels: [String] {
            switch self {
            case .firstUse: ["first_use", ""]
            case .alreadyConsumed: ["already_consumed", ""]
            case .session: ["session", ""]
            case .invalid(let fault): ["invalid", fault.rawValue]
            }
        }
    }

    package struct Key: Hashable, Sendable {
        /// An app's index or place; −1 where the request names none of the registry.
        package var app: Int32
        /// nil for a verb that is not served.
        package var verb: Verb?
        package var event: Event

        package init(app: Int32, verb: Verb?, event: Event) {
            (self.app, self.verb, self.event) = (app, verb, event)
        }
    }

    package private(set) var entries: [(key: Key, count: Int)] = []

    package init() {}

    package static func == (one: AnswerCounts, other: AnswerCounts) -> Bool {
        one.entries.elementsEqual(other.entries) { $0.key == $1.key && $0.count == $1.count }
    }

    package mutating func add(_ key: Key, _ count: Int = 1) {
        for index in entries.indices where entries[index].key == key {
            entries[index].count += count
            return
        }
        entries.append((key, count))
    }

    mutating func add(_ other: AnswerCounts) {
        for (key, count) in other.entries { add(key, count) }
    }
}
