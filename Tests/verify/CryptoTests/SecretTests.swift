import Crypto
import TestKit
import Testing

private func bytes(_ hex: String) -> [UInt8] { WycheproofVectors.bytes(hex: hex) }

@Suite struct HMACTests {
    /// RFC 4231, cases 1, 2, 3, 4, 6 and 7.
    static let vectors: [(key: [UInt8], message: [UInt8], code: String)] = [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            Array(1...25), [UInt8](repeating: 0xCD, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. "
                    + "The key needs to be hashed before being used by the HMAC algorithm.").utf8
            ),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ]

    @Test(arguments: vectors.indices)
    func `codes are those of RFC 4231, however the message is split`(index: Int) {
        let vector = Self.vectors[index]
        let key = HMACKey(Secret(vector.key))
        #expect(key.code(vector.message).bytes == bytes(vector.code))
        let span = vector.message.span
        for cut in 0...vector.message.count {
            #expect(key.code(span.extracting(..<cut), span.extracting(cut...)).bytes == bytes(vector.code))
        }
    }

    @Test func `keys of all lengths around the block size agree with OpenSSL's HMAC, which HKDF uses`() {
        for count in [0, 1, 31, 32, 63, 64, 65, 128, 200] {
            let salt = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
            // RFC 5869: PRK = HMAC(salt, secret), first block = HMAC(PRK, info ‖ 01).
            let extracted = HMACKey(Secret(salt)).code([1, 2, 3])
            let block = HMACKey(Secret(extracted.bytes)).code([9, 1])
            let derived = HKDF.derive(Secret([1, 2, 3]), salt: salt, info: [9])
            #expect(derived.isEqual(to: Secret(block.bytes)))
        }
    }
}

@Suite struct HKDFTests {
    static let vectors: [(secret: [UInt8], salt: [UInt8], info: [UInt8], output: String)] = [
        (
            [UInt8](repeating: 0x0B, count: 22), Array(0...12), Array(0xF0...0xF9),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        ),
        (
            Array(0...0x4F), Array(0x60...0xAF), Array(0xB0...0xFF),
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
        ),
        (
            [UInt8](repeating: 0x0B, count: 22), [], [],
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        ),
    ]

    @Test(arguments: vectors.indices)
    func `outputs are those of RFC 5869`(index: Int) {
        let vector = Self.vectors[index]
        let (secret, expected) = (Secret(vector.secret), bytes(vector.output))
        for info in [vector.info, vector.info + [0]] {
            let derived = HKDF.derive(secret, salt: vector.salt, info: info, count: expected.count)
            #expect(derived.isEqual(to: Secret(expected)) == (info == vector.info))
        }
    }
}

@Suite struct AESGCMTests {
    /// Cases 13, 14 and 16 of McGrew and Viega's paper.
    static let vectors: [(key: String, nonce: String, plaintext: String, clear: String, sealed: String)] = [
        (String(repeating: "00", count: 32), "000000000000000000000000", "", "", "530f8afbc74536b9a963b4f1c4cb738b"),
        (
            String(repeating: "00", count: 32), "000000000000000000000000", "00000000000000000000000000000000", "",
            "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"
        ),
        (
            "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
                + "b16aedf5aa0de657ba637b39",
            "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
                + "c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"
        ),
    ]

    @Test(arguments: vectors.indices)
    func `sealing and opening agree with the published cases`(index: Int) {
        let vector = Self.vectors[index]
        let key = AESGCMKey(Secret(bytes(vector.key)))
        let (nonce, plaintext, clear) = (bytes(vector.nonce), bytes(vector.plaintext), bytes(vector.clear))
        let sealed = bytes(vector.sealed)
        #expect(key.seal(plaintext.span, nonce: nonce.span, authenticating: clear.span) == sealed)
        #expect(key.open(sealed.span, nonce: nonce.span, authenticating: clear.span) == plaintext)
    }

    @Test func `a changed bit anywhere, and every truncation, is refused`() {
        let key = AESGCMKey(Secret(Array(1...32)))
        let (nonce, clear): ([UInt8], [UInt8]) = (Array(1...12), Array("clear".utf8))
        let sealed = key.seal(Array("plaintext".utf8).span, nonce: nonce.span, authenticating: clear.span)
        for bit in 0..<(8 * (sealed.count + nonce.count + clear.count)) {
            var all = sealed + nonce + clear
            all[bit / 8] ^= 1 << (bit % 8)
            let span = all.span
            let (end, clearStart) = (sealed.count, sealed.count + nonce.count)
            #expect(
                key.open(
                    span.extracting(..<end),
                    nonce: span.extracting(end..<clearStart),
                    authenticating: span.extracting(clearStart...)
                ) == nil
            )
        }
        for count in sealed.indices {
            let part = sealed.span.extracting(..<count)
            #expect(key.open(part, nonce: nonce.span, authenticating: clear.span) == nil)
        }
        let short = nonce.dropLast().map { $0 }
        #expect(key.open(sealed.span, nonce: short.span, authenticating: clear.span) == nil)
        let other = AESGCMKey(Secret(Array(2...33)))
        #expect(other.open(sealed.span, nonce: nonce.span, authenticating: clear.span) == nil)
        #expect(key.open(sealed.span, nonce: nonce.span, authenticating: clear.span) == Array("plaintext".utf8))
    }
}

@Suite struct SecretTests {
    @Test func `secrets compare by their bytes and do not print them`() {
        let secret = Secret([0x73, 0x65, 0x63])
        #expect(secret.isEqual(to: Secret([0x73, 0x65, 0x63])))
        #expect(!secret.isEqual(to: Secret([0x73, 0x65, 0x62])))
        #expect(!secret.isEqual(to: Secret([0x73, 0x65])))
        #expect(Secret([]).isEqual(to: Secret([])))
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)" == "secret")
        #expect(!dumped.contains("115"))
    }

    @Test(arguments: [
        ([UInt8](), [UInt8](), true), ([1, 2], [1, 2], true), ([1, 2], [1, 3], false), ([1], [1, 2], false),
    ])
    func `constant-time comparison compares correctly`(left: [UInt8], right: [UInt8], areEqual: Bool) {
        #expect(ConstantTime.areEqual(left.span, right.span) == areEqual)
    }

    @Test func `random bytes have the requested count and differ`() {
        #expect(SecureRandom.bytes(32).count == 32)
        #expect(SecureRandom.bytes(32) != SecureRandom.bytes(32))
        #expect(SecureRandom.bytes(0) == [])
    }
}
