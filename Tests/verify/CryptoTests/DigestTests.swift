import Crypto
import TestKit
import Testing

@Suite struct DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 gives FIPS 180-4's answers`(text: String, hex: String) {
        #expect(SHA256.hash(Array(text.utf8)).bytes == WycheproofVectors.bytes(hex: hex))
    }

    @Test func `SHA-256 gives FIPS 180-4's answer for a million letters`() {
        let digest = SHA256.hash([UInt8](repeating: 0x61, count: 1_000_000))
        let hex = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(digest.bytes == WycheproofVectors.bytes(hex: hex))
    }

    @Test func `hashing two parts equals hashing them joined, wherever the split is`() {
        let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 151) }
        for cut in 0...bytes.count {
            let span = bytes.span
            #expect(SHA256.hash(span.extracting(0..<cut), span.extracting(cut..<bytes.count)) == SHA256.hash(bytes))
        }
    }

    @Test func `a digest returns the bytes that it was made from`() throws {
        let bytes = (0..<32).map { UInt8(200 - $0) }
        let digest = try #require(Digest(bytes))
        #expect(digest.bytes == bytes)
        #expect((0..<32).map { digest[$0] } == bytes)
        #expect(digest.words.0 == 0xC8C7_C6C5_C4C3_C2C1)
        #expect(Digest(words: digest.words) == digest)
        var buffer = [UInt8](repeating: 7, count: 34)
        var span = buffer.mutableSpan
        digest.write(to: &span, at: 1)
        #expect(buffer == [7] + bytes + [7])
    }

    @Test(arguments: [0, 1, 31, 33, 64])
    func `a digest is made from 32 bytes only`(count: Int) {
        #expect(Digest([UInt8](repeating: 1, count: count)) == nil)
    }
}
