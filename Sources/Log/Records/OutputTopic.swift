/// The output topics.
package enum OutputTopic: String, Sendable, CaseIterable {
    case results, tokens, events, deadLetters, ledger, replies

    /// The topics that every worker has; ``replies`` is optional.
    package static let required = allCases.filter { $0 != .replies }
}
