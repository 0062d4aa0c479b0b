package import AppAttest
package import Crypto

/// The facts of an attested key in an artifact, so that an assertion can be judged after the ledger lost the key.
package struct Artifact: Hashable, Sendable {
    package let keyID: KeyID
    package var publicKey: P256PublicKey
    /// ``RegisteredApp/name``.
    package var app: String
    package var appleAppID: String
    package var environment: Environment
    package var registeredAt: EvaluationTime

    package init(
        publicKey: P256PublicKey,
        app: String,
        appleAppID: String,
        environment: Environment,
        registeredAt: EvaluationTime
    ) {
        keyID = KeyID(of: publicKey)
        (self.publicKey, self.app, self.appleAppID) = (publicKey, app, appleAppID)
        (self.environment, self.registeredAt) = (environment, registeredAt)
    }

    // Version ‖ key ID ‖ sealing key id ‖ nonce ‖ ciphertext ‖ tag.
    static let version: UInt8 = 1
    static let keyIDEnd = 1 + Digest.byteCount
    static let sealingKeyIDEnd = keyIDEnd + SealingKeyID.byteCount
    static let clearBytes = sealingKeyIDEnd + AESGCMKey.nonceBytes
    /// The bytes around the ciphertext, which has at least one.
    private static let frameBytes = clearBytes + AESGCMKey.tagBytes
    /// Two names of 2¹⁶ − 1 bytes fit; an artifact with the longest names of requests is far shorter.
    static let maxBytes = 1 << 18

    /// The key ID that an artifact claims in its clear part, unverified; nil for bytes that are not an artifact.
    package static func keyID(of artifact: [UInt8]) -> KeyID? {
        isShapedLikeOne(artifact) ? KeyID(unverifiedArtifact: artifact) : nil
    }

    /// The sealing key that an artifact claims in its clear part, unverified; nil for bytes that are not an artifact.
    package static func sealingKeyID(of artifact: [UInt8]) -> SealingKeyID? {
        guard isShapedLikeOne(artifact) else { return nil }
        return SealingKeyID(artifact.span.extracting(keyIDEnd..<sealingKeyIDEnd))
    }

    private static func isShapedLikeOne(_ bytes: [UInt8]) -> Bool { hasAllParts(bytes) && bytes.count <= maxBytes }

    fileprivate static func hasAllParts(_ bytes: [UInt8]) -> Bool {
        bytes.first == version && bytes.count > frameBytes
    }
}

extension KeyID {
    /// The key ID that an artifact claims in its clear part, unverified and whatever the artifact's size: a request is
    /// filed under it before the artifact is judged.
    ///
    /// - Returns: nil for an artifact of an unknown version, and for one too short for all its parts.
    init?(unverifiedArtifact artifact: [UInt8]) {
        guard Artifact.hasAllParts(artifact) else { return nil }
        self.init(artifact.span.extracting(1..<Artifact.keyIDEnd))
    }
}

/// The encrypted part: X ‖ Y ‖ environment (0 development, 1 production) ‖ registered-at in milliseconds (8 bytes,
/// two's complement) ‖ two texts, each with its length in two bytes before it: the registry app, the Apple App ID.
extension Artifact {
    private static let fixedBytes = 2 * Digest.byteCount + 1 + 8

    var plaintext: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.fixedBytes + app.utf8.count + appleAppID.utf8.count + 4)
        bytes += publicKey.x.bytes
        bytes += publicKey.y.bytes
        bytes.append(environment == .production ? 1 : 0)
        bytes += BigEndian.bytes(UInt64(bitPattern: registeredAt.milliseconds), 8)
        for text in [app, appleAppID] {
            precondition(text.utf8.count <= Int(UInt16.max), "names in the registry are shorter than requests")
            bytes += BigEndian.bytes(UInt64(text.utf8.count), 2)
            bytes += text.utf8
        }
        return bytes
    }

    /// - Returns: nil unless this is exactly a ``plaintext``. The point is not checked again: the seal vouches for it.
    init?(plaintext: [UInt8]) {
        guard plaintext.count >= Self.fixedBytes, plaintext[64] <= 1 else { return nil }
        let bytes = plaintext.span
        guard let x = Digest(bytes.extracting(0..<32)), let y = Digest(bytes.extracting(32..<64)),
            let time = BigEndian.read(bytes.extracting(65..<73), 8)
        else { return nil }
        var position = Self.fixedBytes
        guard let app = Self.text(plaintext, &position), let appleAppID = Self.text(plaintext, &position),
            position == plaintext.count
        else { return nil }
        self.init(
            publicKey: P256PublicKey(uncheckedX: x, y: y),
            app: app,
            appleAppID: appleAppID,
            environment: plaintext[64] == 1 ? .production : .development,
            registeredAt: EvaluationTime(milliseconds: Int64(bitPattern: time))
        )
    }

    /// The text whose length is at `position`, which moves past it.
    private static func text(_ bytes: [UInt8], _ position: inout Int) -> String? {
        guard bytes.count - position >= 2 else { return nil }
        let start = position + 2
        let count = Int(bytes[position]) << 8 | Int(bytes[position + 1])
        guard bytes.count - start >= count else { return nil }
        position = start + count
        return String(validating: bytes[start..<position], as: UTF8.self)
    }
}
