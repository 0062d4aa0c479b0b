/// Signs eight digests at once with one key: the interface for a multi-buffer library. Nobody trusts its signatures:
/// ``TokenSigner`` verifies each. Called by many lanes at once.
package protocol GroupSigner: Sendable {
    /// Name and version, for people.
    var name: String { get }
    /// Whether it has an operation for keys of this kind and size.
    func canSign(with key: SigningKey) -> Bool
    /// - Parameter digests: ``GroupSize/group`` of them.
    /// - Returns: a signature for each in order, in the form of ``SigningKey/sign(_:)-(Digest)``; nil where the library
    ///   reports an error.
    func sign(_ digests: [Digest], with key: SigningKey) -> [[UInt8]]?
}

/// How many signatures make a group.
package enum GroupSize {
    package static let group = 8
    /// A group costs the same however few of its places are used: below these counts OpenSSL is cheaper.
    package static let leastRSA = 5
    package static let leastP256 = 6

    static func least(_ kind: SigningKey.Kind) -> Int { kind == .rsa ? leastRSA : leastP256 }
}
