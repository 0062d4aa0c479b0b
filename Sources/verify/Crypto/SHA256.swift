internal import COpenSSL

/// SHA-256 (FIPS 180-4) through OpenSSL's streaming calls, which need no fetch and scale over threads.
package enum SHA256 {
    package static func hash(_ bytes: [UInt8]) -> Digest { hash(bytes.span) }

    package static func hash(_ digest: Digest) -> Digest { digest.withBytes { hash($0) } }

    package static func hash(_ bytes: Span<UInt8>) -> Digest {
        var context = SHA256_CTX()
        begin(&context)
        update(&context, bytes)
        return finish(&context)
    }

    /// The digest of `first ‖ second`, without joining them.
    package static func hash(_ first: Span<UInt8>, _ second: Span<UInt8>) -> Digest {
        var context = SHA256_CTX()
        begin(&context)
        update(&context, first)
        update(&context, second)
        return finish(&context)
    }

    /// The state after the common beginning of many messages: only the rest of each is hashed.
    package struct Beginning: Sendable {
        private let context: SHA256_CTX

        package init(_ bytes: [UInt8]) {
            var context = SHA256_CTX()
            SHA256.begin(&context)
            SHA256.update(&context, bytes.span)
            self.context = context
        }

        /// The digest of the beginning and `rest`.
        package func hash(_ rest: Span<UInt8>) -> Digest {
            var context = context
            SHA256.update(&context, rest)
            return SHA256.finish(&context)
        }
    }

    private static func begin(_ context: inout SHA256_CTX) {
        // The context is a local value, valid for the call.
        _ = unsafe SHA256_Init(&context)
    }

    private static func update(_ context: inout SHA256_CTX, _ bytes: Span<UInt8>) {
        // OpenSSL reads exactly `count` bytes of the borrowed buffer.
        unsafe bytes.withUnsafeBufferPointer { _ = unsafe SHA256_Update(&context, $0.baseAddress, $0.count) }
    }

    private static func finish(_ context: inout SHA256_CTX) -> Digest {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        // OpenSSL writes exactly 32 bytes, the size of the four words.
        unsafe withUnsafeMutableBytes(of: &words) {
            _ = unsafe SHA256_Final($0.baseAddress?.assumingMemoryBound(to: UInt8.self), &context)
        }
        return Digest(words: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian))
    }
}

/// The hash under an authority's ECDSA signature (FIPS 180-4).
package enum SignatureHash: Sendable {
    case sha256, sha384, sha512

    func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        guard self != .sha256 else { return SHA256.hash(bytes).bytes }
        let count = Int(self == .sha384 ? SHA384_DIGEST_LENGTH : SHA512_DIGEST_LENGTH)
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var context = SHA512_CTX()
            // The context is a local value, which knows its hash; OpenSSL reads `count` bytes and fills the fresh buffer.
            _ = unsafe self == .sha384 ? SHA384_Init(&context) : SHA512_Init(&context)
            unsafe bytes.withUnsafeBufferPointer { _ = unsafe SHA512_Update(&context, $0.baseAddress, $0.count) }
            _ = unsafe SHA512_Final(buffer.baseAddress, &context)
            initialized = count
        }
    }
}
