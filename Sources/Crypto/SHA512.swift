internal import COpenSSL

/// SHA-512 (FIPS 180-4): an authority may sign certificates over it.
enum SHA512 {
    static func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        [UInt8](capacity: Int(SHA512_DIGEST_LENGTH)) { output in
            var context = SHA512_CTX()
            // The context is a local value; OpenSSL reads `count` bytes and writes exactly 64 into the fresh buffer.
            unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
                unsafe bytes.withUnsafeBufferPointer { bytes in
                    _ = unsafe SHA512_Init(&context)
                    _ = unsafe SHA512_Update(&context, bytes.baseAddress, bytes.count)
                    _ = unsafe SHA512_Final(buffer.baseAddress, &context)
                }
                initialized = Int(SHA512_DIGEST_LENGTH)
            }
        }
    }
}
