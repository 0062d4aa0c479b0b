internal import AppAttest

extension KeyID {
    /// The key ID that an artifact claims in its clear part, unverified: version (1 byte), key ID (32), sealing key id
    /// (4), nonce (12), ciphertext, tag (16).
    ///
    /// - Returns: nil for an artifact of an unknown version, and for one too short for all its parts.
    init?(unverifiedArtifact artifact: [UInt8]) {
        guard artifact.first == Self.artifactVersion, artifact.count > Self.artifactFrame else { return nil }
        self.init(artifact.span.extracting(1..<33))
    }

    private static let artifactVersion: UInt8 = 1
    /// The bytes around the ciphertext.
    private static let artifactFrame = 1 + 32 + 4 + 12 + 16
}
