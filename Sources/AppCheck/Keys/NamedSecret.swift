package import Crypto

/// A secret of the configuration with its id.
package struct NamedSecret: Sendable {
    /// The configured id, any text; never published.
    package let id: String
    /// 32 bytes.
    package let secret: Secret

    package static let byteCount = 32

    package init(id: String, secret: Secret) {
        self.id = id
        self.secret = secret
    }
}
