/// An OAuth token of a client. Its text is a secret.
package struct BearerToken: Sendable, Equatable {
    package let text: String
    /// The user's name as the client knows it; the broker takes its own from the token.
    package let principal: String
    /// The time of its end, in milliseconds since 1970.
    package let end: Int64
    /// SASL extensions, each name before its value.
    package let extensions: [String]

    package init(text: String, principal: String, end: Int64, extensions: [String] = []) {
        (self.text, self.principal, self.end, self.extensions) = (text, principal, end, extensions)
    }
}

extension BearerToken: CustomStringConvertible, CustomReflectable {
    package var description: String { "a token that ends at \(end)" }
    package var customMirror: Mirror { Mirror(self, children: ["end": end]) }
}
