/// The reason why a file is not a signing key.
package enum SigningKeyFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// No unencrypted private key in PEM (PKCS#8 or traditional).
    case unreadable
    /// A private key, but neither RSA nor on P-256.
    case wrongKind
    case rsaTooSmall(bits: Int)
    case rsaTooLarge(bits: Int)
    /// Private and public part do not belong together.
    case inconsistent

    package var description: String {
        switch self {
        case .unreadable: "is not an unencrypted private key in PEM"
        case .wrongKind: "is neither an RSA key nor a P-256 key"
        case .rsaTooSmall(let bits): "is an RSA key of \(bits) bits; the minimum is 2048"
        case .rsaTooLarge(let bits): "is an RSA key of \(bits) bits; the maximum is 8192"
        case .inconsistent: "is damaged: its private and public parts do not belong together"
        }
    }
}
