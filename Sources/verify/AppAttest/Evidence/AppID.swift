package import Crypto

/// An accepted App ID (App ID prefix, a dot, bundle identifier) with its SHA-256, the rpIdHash.
package struct AppID: Sendable, Hashable {
    package let text: String
    package let rpIDHash: Digest

    package init(_ text: String) {
        self.text = text
        rpIDHash = SHA256.hash(Array(text.utf8))
    }

    /// An App ID known by its hash alone, as an object that is explained contains it.
    package init(unnamed rpIDHash: Digest) {
        text = ""
        self.rpIDHash = rpIDHash
    }
}
