internal import COpenSSL

/// A public key that verifies tokens: the other half of a ``SigningKey``. Immutable, shared by all lanes.
@safe package final class VerificationKey: Sendable {
    /// The numbers of a JWK: unsigned, big-endian, without leading zeros.
    package enum Parameters: Hashable, Sendable {
        case rsa(modulus: [UInt8], exponent: [UInt8])
        case p256(P256PublicKey)
    }

    package let parameters: Parameters

    package var kind: SigningKey.Kind { if case .rsa = parameters { .rsa } else { .p256 } }
    package var signatureBytes: Int {
        if case .rsa(let modulus, _) = parameters { modulus.count } else { 2 * Digest.byteCount }
    }

    // Owned: made in the initialiser, only read when verifying, freed in deinit. Exactly one of them is there.
    nonisolated(unsafe) private let rsa: OpaquePointer?
    nonisolated(unsafe) private let ec: OpaquePointer?

    /// - Returns: nil unless RSA has 2048 to 8192 bits and an odd exponent from 3 to 2³² − 1; any P-256 point is taken.
    package init?(_ parameters: Parameters) {
        self.parameters = parameters
        switch parameters {
        case .rsa(let modulus, let exponent):
            let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
            guard SigningKey.rsaBits.contains(bits), (modulus.first ?? 0) != 0, (modulus.last ?? 0) & 1 == 1,
                (1...4).contains(exponent.count), (exponent.last ?? 0) & 1 == 1, exponent != [1], exponent.first != 0
            else { return nil }
            unsafe rsa = unsafe Self.makeRSA(modulus, exponent)
            unsafe ec = nil
        case .p256(let point):
            unsafe rsa = nil
            unsafe ec = unsafe Curve.p256.makeKey()
            let x963 = point.x963
            // OpenSSL copies the 65 bytes and checks that the point is on the curve.
            guard unsafe EC_KEY_oct2key(ec, x963, x963.count, nil) == 1 else {
                ERR_clear_error()
                return nil
            }
        }
    }

    deinit {
        // The only references; freeing nil does nothing.
        unsafe RSA_free(rsa)
        unsafe EC_KEY_free(ec)
    }

    private static func makeRSA(_ modulus: [UInt8], _ exponent: [UInt8]) -> OpaquePointer {
        // OpenSSL copies the bytes into two numbers, which the key takes over.
        guard let key = unsafe RSA_new(), let n = unsafe BN_bin2bn(modulus, Int32(modulus.count), nil),
            let e = unsafe BN_bin2bn(exponent, Int32(exponent.count), nil), unsafe RSA_set0_key(key, n, e, nil) == 1
        else { preconditionFailure("out of memory") }
        return unsafe key
    }

    /// - Parameter signature: RSA's number, as long as the modulus, or r ‖ s of 32 bytes each.
    /// - Returns: false for anything but a valid signature over SHA-256 of `message`.
    package func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        isValid(signature.span, of: SHA256.hash(message))
    }

    /// - Parameter digest: the message's SHA-256.
    package func isValid(_ signature: Span<UInt8>, of digest: Digest) -> Bool {
        let isValid =
            switch parameters {
            case .rsa: isValidRSA(signature, of: digest)
            case .p256: isValidECDSA(signature, of: digest)
            }
        // A refused signature is a verdict: its entries must not stay in the thread's error queue.
        if !isValid { ERR_clear_error() }
        return isValid
    }

    private func isValidRSA(_ signature: Span<UInt8>, of digest: Digest) -> Bool {
        digest.withBytes { digest in
            unsafe digest.withUnsafeBufferPointer { digest in
                unsafe signature.withUnsafeBufferPointer { signature in
                    // OpenSSL reads both buffers and refuses any length but the modulus'.
                    unsafe RSA_verify(
                        NID_sha256,
                        digest.baseAddress,
                        32,
                        signature.baseAddress,
                        UInt32(clamping: signature.count),
                        rsa
                    ) == 1
                }
            }
        }
    }

    private func isValidECDSA(_ signature: Span<UInt8>, of digest: Digest) -> Bool {
        guard signature.count == 2 * Digest.byteCount else { return false }
        let pair = ECDSASignature()
        pair.set(r: signature.extracting(0..<32), s: signature.extracting(32..<64))
        return digest.withBytes { digest in
            unsafe digest.withUnsafeBufferPointer { digest in
                // OpenSSL reads the 32 bytes, checks 1 ≤ r, s < n and answers 1, 0 or −1 for an error.
                unsafe pair.withPointer { unsafe ECDSA_do_verify(digest.baseAddress, 32, $0, ec) == 1 }
            }
        }
    }
}
