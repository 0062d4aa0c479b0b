package import AppAttest

/// The result of decoding a record's value.
package enum RequestDecoding: Sendable {
    case request(Request)
    /// `path` as it may be echoed, `keyID` if the body names a readable one.
    case refused(Reason, path: ExactText, keyID: KeyID?, status: Status)
    case deadLetter(DeadLetterReason)
}
