package import AppAttest
package import Crypto

/// A key of sealed challenges.
///
/// A sealed challenge always has 59 bytes, in this order: version (1), key id (4), issue time in milliseconds (6),
/// random bytes (16), HMAC-SHA256 (32) over all bytes before it and the registry app's name. (With 32 bytes in all, the
/// MAC would have four in addition to the sixteen random ones.) The worker keeps no record of an issued challenge.
package struct ChallengeKey: SecretKey {
    package static let byteCount = clearBytes + Digest.byteCount
    package static let randomBytes = 16
    static let version: UInt8 = 1
    static let timeBytes = 6
    static let keyIDEnd = 1 + SealingKeyID.byteCount
    static let timeEnd = keyIDEnd + timeBytes
    /// The bytes that the MAC covers, in addition to the app.
    static let clearBytes = timeEnd + randomBytes

    package let id: SealingKeyID
    package let operatorKey: OperatorKey
    private let codeKey: HMACKey
    private let randomKey: HMACKey

    package init(id: SealingKeyID, secret: Secret) {
        self.id = id
        operatorKey = OperatorKey(id: id, secret: secret)
        codeKey = HMACKey(secret.subkey("attest-worker challenge code v1"))
        randomKey = HMACKey(secret.subkey("attest-worker challenge random v1"))
    }

    /// - Parameters:
    ///   - app: ``RegisteredApp/name``; the challenge is valid for no other app.
    ///   - issuedAt: from 1970 to the year 10889, else the nearest time that fits.
    ///   - random: 16 unpredictable bytes; in replay ``replayRandom(topic:partition:offset:)``.
    package func seal(app: String, issuedAt: EvaluationTime, random: [UInt8]) -> [UInt8] {
        precondition(random.count == Self.randomBytes, "sixteen random bytes")
        let last = Int64(1) << (8 * Self.timeBytes) - 1
        let time = UInt64(min(max(issuedAt.milliseconds, 0), last))
        let clear = [Self.version] + id.bytes + BigEndian.bytes(time, Self.timeBytes) + random
        return clear + code(clear.span, app: app).bytes
    }

    /// Replaces random bytes where the same input must give the same output: a MAC of the record's place.
    package func replayRandom(topic: String, partition: Int32, offset: Int64) -> [UInt8] {
        let place =
            BigEndian.bytes(UInt64(UInt32(bitPattern: partition)), 4)
            + BigEndian.bytes(UInt64(bitPattern: offset), 8) + Array(topic.utf8)
        return Array(randomKey.code(place).bytes.prefix(Self.randomBytes))
    }

    /// The name comes last and the clear part has one length, so that no two pairs give the same bytes.
    func code(_ clear: Span<UInt8>, app: String) -> Digest {
        codeKey.code(clear, app.utf8Span.span)
    }
}

package typealias ChallengeKeyRing = SecretRing<ChallengeKey>
