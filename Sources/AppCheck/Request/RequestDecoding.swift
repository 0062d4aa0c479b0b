package import AppAttest

/// The result of decoding a record's value.
package enum RequestDecoding: Sendable {
    case request(Request)
    /// An operator's, by its code; `path` as it may be echoed.
    case command(AuthenticCommand, path: ExactText)
    /// `path` as it may be echoed, `keyID` if the body names a readable one.
    case refused(Reason, path: ExactText, keyID: KeyID?, status: Status)
    case deadLetter(DeadLetterReason)
}
