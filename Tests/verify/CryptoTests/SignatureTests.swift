import Crypto
import Dispatch
import TestKit
import Testing

/// Single faults around one valid signature of each curve.
@Suite(.enabled(if: WycheproofVectors.arePresent, Comment(rawValue: WycheproofVectors.absence)))
struct SignatureTests {
    private struct Sample {
        let point: [UInt8]
        let message: [UInt8]
        let der: [UInt8]
        var digest: Digest { SHA256.hash(message) }
    }

    private static func sample(_ name: String) throws -> Sample {
        let group = try #require(WycheproofVectors.file(name).testGroups.first)
        let test = try #require(group.tests.first { $0.result == "valid" && !$0.msg.isEmpty })
        return Sample(
            point: WycheproofVectors.bytes(hex: group.publicKey.uncompressed),
            message: WycheproofVectors.bytes(hex: test.msg),
            der: WycheproofVectors.bytes(hex: test.sig)
        )
    }

    @Test func `a point off the curve is not a key, and a signature by it is refused`() throws {
        let sample = try Self.sample("ecdsa_secp256r1_sha256_test")
        let key = try #require(P256PublicKey(x963: sample.point))
        let signature = try #require(P256Signature(strictDER: sample.der))
        let engine = OpenSSLEngine()
        for bit in stride(from: 0, to: 256, by: 7) {
            let y = SignatureCases.flipped(key.y, bit: bit)
            let point = [0x04] + key.x.bytes + y.bytes
            #expect(P256PublicKey(x963: point) == nil)
            let off = P256PublicKey(uncheckedX: key.x, y: y)
            let answers = engine.verify([
                .p256(key: off, digest: sample.digest, signature: signature),
                .p256(key: key, digest: sample.digest, signature: signature),
            ])
            #expect(answers == [false, true])
        }
    }

    @Test(arguments: [32, 64, 66, 97, 0, 1])
    func `a P-256 key has 65 bytes`(count: Int) throws {
        let sample = try Self.sample("ecdsa_secp256r1_sha256_test")
        let bytes = Array((sample.point + sample.point).prefix(count))
        #expect(P256PublicKey(x963: bytes) == nil)
        #expect(P384PublicKey(x963: bytes) == nil)
    }

    @Test(arguments: [0x00, 0x02, 0x03, 0x05, 0x06, 0x07, 0x84] as [UInt8])
    func `a key starts with 04`(first: UInt8) throws {
        var point = try Self.sample("ecdsa_secp256r1_sha256_test").point
        let key = try #require(P256PublicKey(x963: point))
        #expect(key.x963 == point)
        #expect(key.digest == SHA256.hash(point))
        point[0] = first
        #expect(P256PublicKey(x963: point) == nil)
        var long = try Self.sample("ecdsa_secp384r1_sha256_test").point
        #expect(P384PublicKey(x963: long)?.x963 == long)
        long[0] = first
        #expect(P384PublicKey(x963: long) == nil)
    }

    @Test func `a P-384 signature fails if any byte of it, the digest or the key is changed`() throws {
        let sample = try Self.sample("ecdsa_secp384r1_sha256_test")
        let key = try #require(P384PublicKey(x963: sample.point))
        let engine = OpenSSLEngine()
        #expect(key.id == SHA256.hash(sample.point))
        #expect(engine.isValid(.p384(key: key, digest: sample.digest, signature: sample.der)))
        for index in sample.der.indices {
            var der = sample.der
            der[index] ^= 0x01
            #expect(!engine.isValid(.p384(key: key, digest: sample.digest, signature: der)), "byte \(index)")
        }
        for count in 0..<sample.der.count {
            let der = Array(sample.der.prefix(count))
            #expect(!engine.isValid(.p384(key: key, digest: sample.digest, signature: der)))
        }
        let digest = SignatureCases.flipped(sample.digest, bit: 100)
        #expect(!engine.isValid(.p384(key: key, digest: digest, signature: sample.der)))
        for index in stride(from: 1, to: 97, by: 5) {
            var point = sample.point
            point[index] ^= 0x10
            #expect(P384PublicKey(x963: point) == nil)
        }
    }

    @Test func `lanes share an issuer's key`() throws {
        let sample = try Self.sample("ecdsa_secp384r1_sha256_test")
        let key = try #require(P384PublicKey(x963: sample.point))
        let wrong = SignatureCases.flipped(sample.digest, bit: 3)
        let checks: [SignatureCheck] = (0..<8).map {
            .p384(key: key, digest: $0.isMultiple(of: 2) ? sample.digest : wrong, signature: sample.der)
        }
        let expected = (0..<8).map { $0.isMultiple(of: 2) }
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            #expect(OpenSSLEngine().verify(checks) == expected)
        }
    }
}
