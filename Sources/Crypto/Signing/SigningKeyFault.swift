/// Why a file is no signing key.
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
        case .unreadable: "is no unencrypted private key in PEM"
        case .wrongKind: "is neither an RSA key nor a P-256 key"
        case .rsaTooSmall(let bits): "is an RSA key of \(bits) bits, and 2048 are the least"
        case .rsaTooLarge(let bits): "is an RSA key of \(bits) bits, and 8192 are the most"
        case .inconsistent: "is damaged: its private and public parts do not belong together"
        }
    }
}
