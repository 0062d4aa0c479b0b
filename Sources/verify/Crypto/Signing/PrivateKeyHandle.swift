internal import COpenSSL

/// OpenSSL's private key, in its general form and in the one that signs fastest. Shared by all lanes: OpenSSL only
/// reads it when signing, and guards RSA's blinding with its own lock.
@safe final class PrivateKeyHandle: Sendable {
    // Owned: set by the initialiser, freed in deinit. Exactly one of the two last is there.
    nonisolated(unsafe) private let key: OpaquePointer
    nonisolated(unsafe) let rsa: OpaquePointer?
    nonisolated(unsafe) let ec: OpaquePointer?

    private init(takingOwnershipOf key: OpaquePointer, rsa: OpaquePointer?, ec: OpaquePointer?) {
        unsafe self.key = unsafe key
        unsafe self.rsa = unsafe rsa
        unsafe self.ec = unsafe ec
    }

    deinit {
        // The only references; freeing nil does nothing.
        unsafe RSA_free(rsa)
        unsafe EC_KEY_free(ec)
        unsafe EVP_PKEY_free(key)
    }

    /// - Parameter key: owned by the new object, or freed if it is refused.
    convenience init(checking key: OpaquePointer) throws(SigningKeyFault) {
        let fault: SigningKeyFault
        switch unsafe EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA:
            // Our own reference to the key's RSA form.
            let sizeFault = unsafe SigningKeyFault(rsaBits: Int(EVP_PKEY_get_bits(key)))
            if sizeFault == nil, let rsa = unsafe EVP_PKEY_get1_RSA(key) {
                unsafe self.init(takingOwnershipOf: key, rsa: rsa, ec: nil)
                return
            }
            fault = sizeFault ?? .unreadable
        case EVP_PKEY_EC:
            // Our own reference to the key's EC form; the group belongs to it.
            if let ec = unsafe EVP_PKEY_get1_EC_KEY(key) {
                if unsafe EC_GROUP_get_curve_name(EC_KEY_get0_group(ec)) == NID_X9_62_prime256v1 {
                    unsafe self.init(takingOwnershipOf: key, rsa: nil, ec: ec)
                    return
                }
                unsafe EC_KEY_free(ec)
            }
            fault = .wrongKind
        default: fault = .wrongKind
        }
        unsafe EVP_PKEY_free(key)
        ERR_clear_error()
        throw fault
    }

    convenience init(pem: [UInt8]) throws(SigningKeyFault) {
        defer { ERR_clear_error() }
        let key: OpaquePointer? = unsafe pem.withUnsafeBufferPointer { buffer in
            // The BIO reads the borrowed bytes and is freed before they go. The callback refuses to ask anyone for a
            // passphrase.
            guard let input = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free(input) }
            return unsafe PEM_read_bio_PrivateKey(input, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key = unsafe key else { throw .unreadable }
        try unsafe self.init(checking: key)
    }

    /// The key in unencrypted PKCS#8 PEM.
    var pem: [UInt8] {
        // The output is ours and freed on the way out; its bytes are copied before.
        guard let output = unsafe BIO_new(BIO_s_secmem()) else { preconditionFailure("out of memory") }
        defer { unsafe BIO_free(output) }
        let isWritten = unsafe PEM_write_bio_PKCS8PrivateKey(output, key, nil, nil, 0, nil, nil)
        precondition(isWritten == 1, "a key can be written")
        let count = unsafe Int(BIO_ctrl_pending(output))
        // OpenSSL copies at most `count` bytes and says how many.
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = unsafe Int(BIO_read(output, buffer.baseAddress, Int32(count)))
        }
    }

    /// The public half.
    var parameters: VerificationKey.Parameters {
        if let rsa = unsafe rsa {
            // Both numbers belong to the key and are copied.
            return unsafe .rsa(modulus: Self.bytes(RSA_get0_n(rsa)), exponent: Self.bytes(RSA_get0_e(rsa)))
        }
        guard let key = unsafe P256PublicKey(ec: ec) else {
            preconditionFailure("OpenSSL checks the points that it reads")
        }
        return .p256(key)
    }

    /// Whether the key is RSA of two primes with half of the modulus' bits each, and has what CRT needs.
    var hasEvenFactors: Bool {
        guard let rsa = unsafe rsa, unsafe RSA_get_multi_prime_extra_count(rsa) == 0 else { return false }
        return unsafe withFactors { p, q, dp, dq, iq in
            let half = unsafe RSA_bits(rsa) / 2
            return unsafe BN_num_bits(p) == half && BN_num_bits(q) == half && dp != nil && dq != nil && iq != nil
        }
    }

    /// Calls `body` with p, q, d mod (p − 1), d mod (q − 1) and 1/q mod p of an RSA key: the key's own, to be read only.
    @unsafe func withFactors<Result>(
        _ body: (OpaquePointer?, OpaquePointer?, OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Result
    ) -> Result {
        defer { withExtendedLifetime(self) {} }
        return unsafe body(
            RSA_get0_p(rsa),
            RSA_get0_q(rsa),
            RSA_get0_dmp1(rsa),
            RSA_get0_dmq1(rsa),
            RSA_get0_iqmp(rsa)
        )
    }

    /// The private number of a P-256 key: the key's own, to be read only while it lives.
    @unsafe var scalar: OpaquePointer? { unsafe EC_KEY_get0_private_key(ec) }

    /// A number's bytes, big-endian, without leading zeros.
    private static func bytes(_ number: OpaquePointer?) -> [UInt8] {
        let count = unsafe Int(BN_num_bits(number) + 7) / 8
        // OpenSSL writes exactly as many bytes as the number has.
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = unsafe Int(BN_bn2bin(number, buffer.baseAddress))
        }
    }
}
