internal import COpenSSL

/// SHA-384 (FIPS 180-4): what authorities sign certificates over.
enum SHA384 {
    static func hash(_ bytes: Span<UInt8>) -> [UInt8] {
        [UInt8](capacity: Int(SHA384_DIGEST_LENGTH)) { output in
            var context = SHA512_CTX()
            // The context is a local value; OpenSSL reads `count` bytes and writes exactly 48 into the fresh buffer.
            unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
                unsafe bytes.withUnsafeBufferPointer { bytes in
                    _ = unsafe SHA384_Init(&context)
                    _ = unsafe SHA384_Update(&context, bytes.baseAddress, bytes.count)
                    _ = unsafe SHA384_Final(buffer.baseAddress, &context)
                }
                initialized = Int(SHA384_DIGEST_LENGTH)
            }
        }
    }
}
