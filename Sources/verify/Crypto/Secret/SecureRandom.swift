internal import COpenSSL

/// OpenSSL's random generator for secrets. For the worker alone: everything below it takes randomness as an argument.
package enum SecureRandom {
    package static func bytes(_ count: Int) -> [UInt8] {
        [UInt8](capacity: count) { output in
            // OpenSSL writes exactly `count` bytes into the fresh buffer or fails.
            unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
                precondition(unsafe RAND_priv_bytes(buffer.baseAddress, Int32(count)) == 1, "the system has entropy")
                initialized = count
            }
        }
    }
}
