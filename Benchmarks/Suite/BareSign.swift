internal import COpenSSL
internal import Crypto

/// OpenSSL's cheapest way to sign digests with nothing around it: a baseline. For one thread.
@safe final class BareSign {
    // Owned: set by the initialiser, freed in deinit. One of the two is nil.
    private let rsa: OpaquePointer?
    private let ec: OpaquePointer?
    private let digests: [[UInt8]]
    private var signature: [UInt8]

    init(_ key: SigningKey, digests: [Digest]) {
        precondition(!digests.isEmpty, "there is something to sign")
        self.digests = digests.map(\.bytes)
        signature = [UInt8](repeating: 0, count: key.signatureBytes)
        let general = unsafe Self.key(pem: key.pem)
        // References of our own to the key's fastest form; the general one is given back.
        unsafe rsa = key.kind == .rsa ? unsafe EVP_PKEY_get1_RSA(general) : nil
        unsafe ec = key.kind == .p256 ? unsafe EVP_PKEY_get1_EC_KEY(general) : nil
        unsafe EVP_PKEY_free(general)
    }

    deinit {
        // The only references; freeing nil does nothing.
        unsafe RSA_free(rsa)
        unsafe EC_KEY_free(ec)
    }

    /// Makes `count` signatures, of the digests in turn.
    ///
    /// - Returns: how many were made.
    func run(_ count: Int) -> Int {
        var made = 0
        for index in 0..<count {
            let digest = digests[index % digests.count]
            if unsafe rsa != nil ? signRSA(digest) : signECDSA(digest) { made += 1 }
        }
        return made
    }

    private static func key(pem: [UInt8]) -> OpaquePointer {
        let key: OpaquePointer? = unsafe pem.withUnsafeBufferPointer { buffer in
            // The BIO reads the borrowed bytes and is freed before they go.
            guard let input = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
            defer { unsafe BIO_free(input) }
            return unsafe PEM_read_bio_PrivateKey(input, nil, nil, nil)
        }
        guard let key = unsafe key else { preconditionFailure("a signing key's own PEM is readable") }
        return unsafe key
    }

    private func signRSA(_ digest: [UInt8]) -> Bool {
        var count: UInt32 = 0
        // OpenSSL reads 32 bytes and writes as many as the modulus has, the buffer's size.
        return unsafe RSA_sign(NID_sha256, digest, 32, &signature, &count, rsa) == 1
    }

    private func signECDSA(_ digest: [UInt8]) -> Bool {
        // OpenSSL reads 32 bytes and allocates the pair, which is freed at once.
        guard let pair = unsafe ECDSA_do_sign(digest, 32, ec) else { return false }
        unsafe ECDSA_SIG_free(pair)
        return true
    }
}
