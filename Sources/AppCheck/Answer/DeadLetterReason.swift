/// The reason why a record that is not a request goes to the dead letters.
package enum DeadLetterReason: String, Hashable, Sendable, CaseIterable {
    case nullValue = "null-value"
    case tooLarge = "too-large"
    case badHeaders = "bad-headers"
    case notJSON = "not-json"
    case noPath = "no-path"
    /// A bug of ours on this record.
    case `internal`
}
