/// The first check of a token that fails. Its sender learns no more than that the token is invalid.
package enum TokenFault: String, Error, Sendable, CaseIterable {
    /// No token at all: three parts, two of them JSON objects.
    case malformed
    /// Signed with a key that is not in the set, or in a way that is not the key's.
    case key
    /// Signed with a key whose file is absent.
    case absentKey = "absent-key"
    case signature
    /// Claims that are missing, of the wrong type or another project's.
    case claims
    case expired
    /// `iat` or `nbf` lies ahead.
    case ahead
    /// No app or OAuth client of the project, or one that may not have such a token.
    case app

    var reason: Reason { self == .absentKey ? .noActiveKey : .tokenInvalid }
}
