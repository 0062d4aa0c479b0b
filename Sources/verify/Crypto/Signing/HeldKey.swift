/// A private key that lies outside of this process and can be away.
package protocol DistantKey: Sendable {
    /// Whether it signs, as far as is known.
    var isAvailable: Bool { get }
    /// Why it does not: the end of a sentence about it.
    var fault: String? { get }
    /// Tries again whether it signs; takes as long as the key's holder may.
    func revive()
}

/// One that is known. Asked by many lanes at once.
package protocol HeldKey: DistantKey {
    var publicKey: VerificationKey { get }
    /// - Returns: nil where it does not sign; then it is not available until ``revive()`` finds that it is.
    func signature(of digest: Digest) -> [UInt8]?
}

extension SigningKey {
    /// Some of the kinds.
    package struct Kinds: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package init(_ kind: Kind) { rawValue = kind == .rsa ? 1 : 2 }
    }
}
