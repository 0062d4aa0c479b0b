internal import COpenSSL

/// OpenSSL's pair of numbers, allocated once and refilled for every check. Used by one lane.
@safe final class ECDSASignature {
    private let pointer: OpaquePointer
    /// The two numbers that `pointer` owns.
    private let r: OpaquePointer
    private let s: OpaquePointer

    init() {
        // `ECDSA_SIG_set0` hands both numbers to the signature, which frees them with itself.
        guard let pointer = unsafe ECDSA_SIG_new(), let r = unsafe BN_new(), let s = unsafe BN_new(),
            unsafe ECDSA_SIG_set0(pointer, r, s) == 1
        else { preconditionFailure("out of memory") }
        unsafe (self.pointer, self.r, self.s) = unsafe (pointer, r, s)
    }

    deinit {
        // Frees r and s too.
        unsafe ECDSA_SIG_free(pointer)
    }

    func set(r: Digest, s: Digest) {
        r.withBytes { r in s.withBytes { set(r: r, s: $0) } }
    }

    /// - Parameters: unsigned big-endian numbers.
    func set(r: Span<UInt8>, s: Span<UInt8>) {
        unsafe Self.assign(self.r, r)
        unsafe Self.assign(self.s, s)
    }

    /// The `ECDSA_SIG`, valid inside `body`.
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(pointer)
    }

    private static func assign(_ number: OpaquePointer, _ bytes: Span<UInt8>) {
        // OpenSSL reads `count` bytes into the number that exists already.
        let result = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe BN_bin2bn(buffer.baseAddress, Int32(buffer.count), number)
        }
        precondition(unsafe result == number, "out of memory")
    }
}
