internal import COpenSSL

/// A private key that signs tokens: RSA of 2048 bits or more (PKCS #1 v1.5 over SHA-256, deterministic), or P-256
/// (ECDSA over SHA-256, with fresh randomness). In this process, or held elsewhere. Immutable, shared by all lanes.
package final class SigningKey: Sendable {
    package enum Kind: Sendable, Hashable, CaseIterable { case rsa, p256 }
    private enum Place: Sendable { case here(PrivateKeyHandle), held(any HeldKey) }

    /// Accepted sizes of RSA keys, in bits.
    package static let rsaBits = 2048...8192

    package let kind: Kind
    package let publicKey: VerificationKey
    package let signatureBytes: Int
    private let place: Place

    /// nil for a key that is held elsewhere.
    var handle: PrivateKeyHandle? { if case .here(let handle) = place { handle } else { nil } }
    /// nil for a key of this process.
    package var held: (any HeldKey)? { if case .held(let key) = place { key } else { nil } }
    /// Whether it signs, as far as is known.
    package var isAvailable: Bool { held?.isAvailable ?? true }

    package init(_ key: any HeldKey) {
        (publicKey, place) = (key.publicKey, .held(key))
        (kind, signatureBytes) = (publicKey.kind, publicKey.signatureBytes)
    }

    /// - Parameter pem: PKCS#8 or traditional, unencrypted; text around the block is ignored.
    package convenience init(pem: [UInt8]) throws(SigningKeyFault) {
        try self.init(PrivateKeyHandle(pem: pem))
    }

    /// A fresh key. For the worker alone: it draws on OpenSSL's random generator.
    ///
    /// - Parameter rsaBits: ignored for P-256.
    package static func generate(_ kind: Kind, rsaBits: Int = 2048) throws(SigningKeyFault) -> SigningKey {
        if kind == .rsa, let fault = SigningKeyFault(rsaBits: rsaBits) { throw fault }
        guard let key = unsafe Self.generate(kind, Int32(clamping: rsaBits)) else {
            preconditionFailure("the system has entropy")
        }
        return try SigningKey(unsafe PrivateKeyHandle(checking: key))
    }

    private init(_ handle: PrivateKeyHandle) throws(SigningKeyFault) {
        guard let publicKey = VerificationKey(handle.parameters) else { throw .inconsistent }
        (self.publicKey, place) = (publicKey, .here(handle))
        (kind, signatureBytes) = (publicKey.kind, publicKey.signatureBytes)
        // A damaged key makes signatures that its public half does not verify.
        let probe: [UInt8] = Array("attest-worker".utf8)
        guard let signature = signature(of: SHA256.hash(probe)), publicKey.isValid(signature, of: probe) else {
            ERR_clear_error()
            throw .inconsistent
        }
    }

    /// The private key in unencrypted PKCS#8 PEM; for keys of this process.
    package var pem: [UInt8] {
        guard let handle else { preconditionFailure("a key that is held elsewhere never leaves its place") }
        return handle.pem
    }

    /// - Returns: ``signatureBytes`` bytes: RSA's number, or r ‖ s of 32 bytes each.
    package func sign(_ message: [UInt8]) -> [UInt8] { sign(SHA256.hash(message)) }

    /// Signs with a key of this process.
    ///
    /// - Parameter digest: the message's SHA-256.
    package func sign(_ digest: Digest) -> [UInt8] {
        guard let signature = signature(of: digest) else {
            preconditionFailure("signing fails only without memory or entropy")
        }
        return signature
    }

    /// - Returns: nil where a key that is held elsewhere does not sign.
    package func signature(of digest: Digest) -> [UInt8]? {
        switch place {
        case .held(let key): key.signature(of: digest)
        case .here(let handle): kind == .rsa ? rsaSignature(of: digest, handle) : ecdsaSignature(of: digest, handle)
        }
    }

    private func rsaSignature(of digest: Digest, _ handle: PrivateKeyHandle) -> [UInt8]? {
        var isSigned = false
        // OpenSSL reads the 32 bytes and writes as many as the modulus has, the buffer's size.
        let signature = unsafe [UInt8](unsafeUninitializedCapacity: signatureBytes) { buffer, initialized in
            var count: UInt32 = 0
            isSigned = digest.withBytes { digest in
                unsafe digest.withUnsafeBufferPointer {
                    unsafe RSA_sign(NID_sha256, $0.baseAddress, 32, buffer.baseAddress, &count, handle.rsa) == 1
                }
            }
            initialized = isSigned ? Int(count) : 0
        }
        return isSigned && signature.count == signatureBytes ? signature : nil
    }

    private func ecdsaSignature(of digest: Digest, _ handle: PrivateKeyHandle) -> [UInt8]? {
        let pair = unsafe digest.withBytes { digest in
            unsafe digest.withUnsafeBufferPointer {
                // OpenSSL reads the 32 bytes and allocates the pair.
                unsafe ECDSA_do_sign($0.baseAddress, 32, handle.ec)
            }
        }
        guard let pair = unsafe pair else { return nil }
        defer { unsafe ECDSA_SIG_free(pair) }
        // Both numbers belong to the pair and are below the order: 32 bytes each, padded.
        return unsafe [UInt8](unsafeUninitializedCapacity: signatureBytes) { buffer, initialized in
            let r = unsafe BN_bn2binpad(ECDSA_SIG_get0_r(pair), buffer.baseAddress, 32)
            let s = unsafe BN_bn2binpad(ECDSA_SIG_get0_s(pair), buffer.baseAddress?.advanced(by: 32), 32)
            precondition(r == 32 && s == 32, "a scalar has 32 bytes")
            initialized = 64
        }
    }
}

extension SigningKey {
    private static func generate(_ kind: Kind, _ rsaBits: Int32) -> OpaquePointer? {
        // The context is ours and freed; the key is the caller's. OpenSSL's default exponent is 65537.
        let context = unsafe EVP_PKEY_CTX_new_id(kind == .rsa ? EVP_PKEY_RSA : EVP_PKEY_EC, nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe kind == .rsa
                ? EVP_PKEY_CTX_set_rsa_keygen_bits(context, rsaBits) == 1
                : EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            unsafe EVP_PKEY_keygen(context, &key) == 1
        else { return nil }
        return unsafe key
    }
}

/// The reason why a file is not a signing key.
package enum SigningKeyFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// No unencrypted private key in PEM (PKCS#8 or traditional).
    case unreadable
    /// A private key, but neither RSA nor on P-256.
    case wrongKind
    case rsaTooSmall(bits: Int)
    case rsaTooLarge(bits: Int)
    /// Private and public part do not belong together.
    case inconsistent

    /// Why an RSA key of so many bits is refused; nil for one of an accepted size.
    init?(rsaBits bits: Int) {
        guard !SigningKey.rsaBits.contains(bits) else { return nil }
        self = bits < SigningKey.rsaBits.lowerBound ? .rsaTooSmall(bits: bits) : .rsaTooLarge(bits: bits)
    }

    package var description: String {
        switch self {
        case .unreadable: "is not an unencrypted private key in PEM"
        case .wrongKind: "is neither an RSA key nor a P-256 key"
        case .rsaTooSmall(let bits): "is an RSA key of \(bits) bits; the minimum is 2048"
        case .rsaTooLarge(let bits): "is an RSA key of \(bits) bits; the maximum is 8192"
        case .inconsistent: "is damaged: its private and public parts do not belong together"
        }
    }
}
