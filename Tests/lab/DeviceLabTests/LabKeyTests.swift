internal import Crypto
internal import DeviceLab
internal import Testing

@Suite struct LabKeyTests {
    private static let digest = SHA256.hash(Array("message".utf8))

    @Test(arguments: LabCurve.allCases, Array(0..<8))
    func `signatures verify with OpenSSL, and fail for another digest or key`(curve: LabCurve, seed: Int) throws {
        let key = LabKey(curve, seed: [UInt8(seed)])
        let signature = key.sign(digest: Self.digest.bytes)
        let other = LabKey(curve, seed: [UInt8(seed), 1])
        let checks = [
            try Self.check(key, Self.digest, signature), try Self.check(key, SHA256.hash([1]), signature),
            try Self.check(other, Self.digest, signature),
        ]
        #expect(OpenSSLEngine().verify(checks) == [true, false, false])
    }

    @Test(arguments: LabCurve.allCases)
    func `a key and its signatures are a function of the seed`(curve: LabCurve) {
        let key = LabKey(curve, seed: [1, 2, 3])
        let again = LabKey(curve, seed: [1, 2, 3])
        #expect(key.x963 == again.x963)
        #expect(key.sign(digest: Self.digest.bytes) == again.sign(digest: Self.digest.bytes))
        #expect(key.sign(digest: Self.digest.bytes).r != key.sign(digest: SHA256.hash([1]).bytes).r)
        #expect(key.x963 != LabKey(curve, seed: [1, 2, 4]).x963)
    }

    @Test(arguments: LabCurve.allCases)
    func `points have the lengths of X9.63, compressed or not`(curve: LabCurve) {
        let key = LabKey(curve, seed: [9])
        #expect(key.x963.count == 2 * curve.byteCount + 1)
        #expect(key.x963.first == 4)
        let sign: UInt8 = (key.x963.last ?? 0) & 1
        #expect(key.compressed == [2 + sign] + key.x963[1...curve.byteCount])
        #expect(key.scalar.count == curve.byteCount)
    }

    @Test func `the DER of a signature is strict whatever the scalars are`() throws {
        let key = LabKey(.p256, seed: [5])
        for number in 0..<300 {
            let digest = SHA256.hash([UInt8(number & 0xFF), UInt8(number >> 8)])
            let signature = key.sign(digest: digest.bytes)
            let der = signature.der
            let read = P256Signature(strictDER: der.span)
            let scalars = try #require(read)
            #expect(scalars.r.bytes == signature.r && scalars.s.bytes == signature.s)
        }
    }

    @Test(arguments: LabCurve.allCases)
    func `each engine accepts its own signer's signatures only`(curve: LabCurve) throws {
        let key = LabKey(curve, seed: [6])
        let real = try Self.check(key, Self.digest, ECDSASigner().sign(Self.digest.bytes, with: key))
        let imitated = try Self.check(key, Self.digest, OracleSigner().sign(Self.digest.bytes, with: key))
        #expect(OpenSSLEngine().verify([real, imitated]) == [true, false])
        #expect(OracleEngine().verify([real, imitated]) == [false, true])
        let other = LabKey(curve, seed: [7])
        let stolen = try Self.check(other, Self.digest, OracleSigner().sign(Self.digest.bytes, with: key))
        let moved = try Self.check(key, SHA256.hash([1]), OracleSigner().sign(Self.digest.bytes, with: key))
        #expect(OracleEngine().verify([stolen, moved]) == [false, false])
    }

    private static func check(_ key: LabKey, _ digest: Digest, _ signature: LabSignature) throws -> SignatureCheck {
        let (x963, der) = (key.x963, signature.der)
        switch key.curve {
        case .p256:
            let (point, scalars) = (P256PublicKey(x963: x963.span), P256Signature(strictDER: der.span))
            return .p256(key: try #require(point), digest: digest, signature: try #require(scalars))
        case .p384:
            let point = P384PublicKey(x963: x963.span)
            return .p384(key: try #require(point), digest: digest, signature: der)
        }
    }
}
