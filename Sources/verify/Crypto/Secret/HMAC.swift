internal import COpenSSL

/// A key of HMAC-SHA256 (RFC 2104), kept as the two states of OpenSSL's SHA-256 after the padded key.
///
/// A code costs the compressions of its message and two more: no fetch, no allocation, nothing that lanes share.
package final class HMACKey: Sendable {
    private static let blockBytes = Int(SHA256_CBLOCK)
    /// The inner state, then the outer one.
    private let states: Secret

    package init(_ secret: Secret) {
        states = unsafe Secret(count: 2 * MemoryLayout<SHA256_CTX>.stride) { memory in
            // Two contexts fit; both are initialised here and only read afterwards.
            let contexts = unsafe memory.bindMemory(to: SHA256_CTX.self)
            for (index, pad) in [UInt8(0x36), 0x5C].enumerated() {
                let block = Self.block(secret, pad: pad)
                unsafe block.withUnsafeBytes { block in
                    _ = unsafe SHA256_Init(&contexts[index])
                    _ = unsafe SHA256_Update(&contexts[index], block.baseAddress, block.count)
                }
            }
        }
    }

    /// The key, hashed where it is longer than a block, filled up with zeros and xor-ed with `pad`.
    private static func block(_ secret: Secret, pad: UInt8) -> Secret {
        unsafe Secret(count: blockBytes) { block in
            unsafe secret.withUnsafeBytes { key in
                if key.count <= blockBytes {
                    // The key fits into the block; what follows it is zero already.
                    unsafe block.copyMemory(from: key)
                } else {
                    // OpenSSL reads the key and writes 32 of the block's 64 bytes.
                    _ = unsafe COpenSSL.SHA256(
                        key.baseAddress,
                        key.count,
                        block.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    )
                }
            }
            for index in 0..<blockBytes { unsafe block[index] ^= pad }
        }
    }

    package func code(_ message: [UInt8]) -> Digest { code(message.span) }

    package func code(_ message: Span<UInt8>) -> Digest { code(message, Span()) }

    /// The code of `first ‖ second`, without joining them.
    package func code(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Digest {
        unsafe states.withUnsafeBytes { memory in
            // The two contexts that the initialiser made, copied before they move on.
            let contexts = unsafe memory.assumingMemoryBound(to: SHA256_CTX.self)
            var inner = unsafe contexts[0]
            var outer = unsafe contexts[1]
            var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            // OpenSSL reads the borrowed bytes and writes 32, the size of the words, each time.
            unsafe withUnsafeMutableBytes(of: &words) { digest in
                let target = unsafe digest.assumingMemoryBound(to: UInt8.self).baseAddress
                unsafe first.withUnsafeBytes { _ = unsafe SHA256_Update(&inner, $0.baseAddress, $0.count) }
                unsafe second.withUnsafeBytes { _ = unsafe SHA256_Update(&inner, $0.baseAddress, $0.count) }
                _ = unsafe SHA256_Final(target, &inner)
                _ = unsafe SHA256_Update(&outer, target, digest.count)
                _ = unsafe SHA256_Final(target, &outer)
            }
            return Digest(words: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian))
        }
    }
}
