import Crypto
import Dispatch
import Synchronization
import TestKit
import Testing

private func bytes(_ hex: String) -> [UInt8] { WycheproofVectors.bytes(hex: hex) }
private let message = Array("attest-worker".utf8)

/// A key's text, of which a test's name shows only the first line.
struct Pem: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    var testDescription: String { String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self) }

    init(_ text: String) { bytes = Array(text.utf8) }
}

@Suite struct SigningKeyTests {
    @Test(arguments: [Pem(KeyFixtures.rsa), Pem(KeyFixtures.rsaTraditional)])
    func `RSA signatures equal those of the openssl command, each time`(pem: Pem) throws {
        let key = try SigningKey(pem: pem.bytes)
        #expect(key.kind == .rsa)
        #expect(key.signatureBytes == 256)
        #expect(key.sign(message) == bytes(KeyFixtures.rs256))
        #expect(key.sign(message) == key.sign(message))
        #expect(key.publicKey.parameters == .rsa(modulus: bytes(KeyFixtures.modulus), exponent: [1, 0, 1]))
    }

    @Test(arguments: [Pem(KeyFixtures.p256), Pem(KeyFixtures.p256Traditional)])
    func `P-256 signatures verify, have 64 bytes, and use fresh randomness`(pem: Pem) throws {
        let key = try SigningKey(pem: pem.bytes)
        #expect(key.kind == .p256)
        let point = try #require(P256PublicKey(x963: bytes(KeyFixtures.point)))
        #expect(key.publicKey.parameters == .p256(point))
        let signatures = (0..<64).map { _ in key.sign(message) }
        #expect(signatures.allSatisfy { $0.count == 64 && key.publicKey.isValid($0, of: message) })
        #expect(Set(signatures).count == signatures.count)
        #expect(key.publicKey.isValid(bytes(KeyFixtures.es256), of: message))
        let signature = try #require(signatures.first)
        let (r, s) = (try #require(Digest(Array(signature[..<32]))), try #require(Digest(Array(signature[32...]))))
        let pair = P256Signature(r: r, s: s)
        let check = SignatureCheck.p256(key: point, digest: SHA256.hash(message), signature: pair)
        #expect(OpenSSLEngine().isValid(check))
    }

    @Test(arguments: [
        (Pem(UnfitKeys.rsa1024), SigningKeyFault.rsaTooSmall(bits: 1024)),
        (Pem(UnfitKeys.p384), .wrongKind),
        (Pem(KeyFixtures.ed25519), .wrongKind),
        (Pem(UnfitKeys.encrypted), .unreadable),
        (Pem(""), .unreadable),
        (Pem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), .unreadable),
    ])
    func `a key that is not a signing key is refused with its fault`(pem: Pem, fault: SigningKeyFault) {
        #expect(throws: fault) { try SigningKey(pem: pem.bytes) }
    }

    @Test(arguments: [Pem(KeyFixtures.p256Damaged), Pem(KeyFixtures.rsaDamaged)])
    func `a key with mismatched halves is refused`(pem: Pem) {
        #expect(throws: SigningKeyFault.inconsistent) { try SigningKey(pem: pem.bytes) }
    }

    @Test func `every truncation of a key's text is refused`() {
        let pem = Array(KeyFixtures.p256.utf8)
        let end = pem.count - 2
        for count in 0..<end { #expect(throws: SigningKeyFault.self) { try SigningKey(pem: Array(pem[..<count])) } }
    }

    @Test(arguments: SigningKey.Kind.allCases)
    func `a fresh key is different each time, and can be read back from its PEM`(kind: SigningKey.Kind) throws {
        let key = try SigningKey.generate(kind)
        let text = String(decoding: key.pem, as: UTF8.self)
        #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        let copy = try SigningKey(pem: key.pem)
        #expect(copy.kind == kind)
        #expect(copy.publicKey.parameters == key.publicKey.parameters)
        #expect(key.publicKey.isValid(copy.sign(message), of: message))
        let other = try SigningKey.generate(kind)
        #expect(!other.publicKey.isValid(key.sign(message), of: message))
    }

    @Test(arguments: [Pem(KeyFixtures.rsa), Pem(KeyFixtures.p256)])
    func `threads share one key, and all sign correctly`(pem: Pem) throws {
        let key = try SigningKey(pem: pem.bytes)
        let invalid = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 8) { lane in
            for index in 0..<25 {
                let message = [UInt8(lane), UInt8(index)]
                if !key.publicKey.isValid(key.sign(message), of: message) { invalid.add(1, ordering: .relaxed) }
            }
        }
        #expect(invalid.load(ordering: .relaxed) == 0)
    }

    @Test(arguments: [(2047, SigningKeyFault.rsaTooSmall(bits: 2047)), (8193, .rsaTooLarge(bits: 8193))])
    func `an RSA key outside 2048 to 8192 bits is not made`(bits: Int, fault: SigningKeyFault) {
        #expect(throws: fault) { try SigningKey.generate(.rsa, rsaBits: bits) }
    }
}

@Suite struct VerificationKeyTests {
    static let keys = [Pem(KeyFixtures.rsa), Pem(KeyFixtures.p256)]

    @Test(arguments: keys)
    func `a changed bit of signature or message, or a missing or added byte, is refused`(pem: Pem) throws {
        let key = try SigningKey(pem: pem.bytes)
        let signature = key.sign(message)
        let rebuilt = try #require(VerificationKey(key.publicKey.parameters))
        #expect(rebuilt.isValid(signature, of: message))
        for bit in 0..<(8 * signature.count) {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!rebuilt.isValid(changed, of: message))
        }
        for bit in 0..<(8 * message.count) {
            var changed = message
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!rebuilt.isValid(signature, of: changed))
        }
        for count in 0..<signature.count { #expect(!rebuilt.isValid(Array(signature[..<count]), of: message)) }
        #expect(!rebuilt.isValid(signature + [0], of: message))
        #expect(!rebuilt.isValid([0] + signature, of: message))
    }

    @Test func `the numbers zero and n are not signatures`() throws {
        let key = try SigningKey(pem: Array(KeyFixtures.p256.utf8)).publicKey
        #expect(!key.isValid([UInt8](repeating: 0, count: 64), of: message))
        #expect(!key.isValid([UInt8](repeating: 0xFF, count: 64), of: message))
    }

    @Test func `only valid RSA numbers make a key`() throws {
        let modulus = bytes(KeyFixtures.modulus)
        #expect(VerificationKey(.rsa(modulus: modulus, exponent: [1, 0, 1])) != nil)
        #expect(VerificationKey(.rsa(modulus: modulus, exponent: [3])) != nil)
        #expect(VerificationKey(.rsa(modulus: modulus, exponent: [1])) == nil)
        #expect(VerificationKey(.rsa(modulus: modulus, exponent: [2])) == nil)
        #expect(VerificationKey(.rsa(modulus: modulus, exponent: [])) == nil)
        #expect(VerificationKey(.rsa(modulus: modulus, exponent: [0, 3])) == nil)
        #expect(VerificationKey(.rsa(modulus: [0] + modulus, exponent: [3])) == nil)
        #expect(VerificationKey(.rsa(modulus: Array(modulus.dropLast()), exponent: [3])) == nil)
        #expect(VerificationKey(.rsa(modulus: [], exponent: [3])) == nil)
        #expect(VerificationKey(.rsa(modulus: Array(modulus.dropLast()) + [2], exponent: [3])) == nil)
        let point = P256PublicKey(uncheckedX: SHA256.hash([1]), y: SHA256.hash([2]))
        #expect(VerificationKey(.p256(point)) == nil)
    }
}
