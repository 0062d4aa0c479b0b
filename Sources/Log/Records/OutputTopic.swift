/// The output topics.
package enum OutputTopic: String, Sendable, CaseIterable {
    case results, tokens, events, deadLetters, ledger
}
