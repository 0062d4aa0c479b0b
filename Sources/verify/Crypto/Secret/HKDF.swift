internal import COpenSSL

/// HKDF with SHA-256 (RFC 5869) by OpenSSL: one secret in, as many independent ones out as there are labels.
package enum HKDF {
    /// - Parameters:
    ///   - info: the label; different labels give independent secrets.
    ///   - count: bytes wanted, at most 8,160.
    package static func derive(_ secret: Secret, salt: [UInt8] = [], info: [UInt8], count: Int = 32) -> Secret {
        // The context is ours and freed on the way out; OpenSSL copies key, salt and label.
        guard let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil) else { preconditionFailure("out of memory") }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        let isSet = unsafe secret.withUnsafeBytes { key in
            unsafe EVP_PKEY_derive_init(context) == 1
                && EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1
                && EVP_PKEY_CTX_set1_hkdf_salt(context, salt, Int32(salt.count)) == 1
                && EVP_PKEY_CTX_set1_hkdf_key(
                    context,
                    key.assumingMemoryBound(to: UInt8.self).baseAddress,
                    Int32(key.count)
                ) == 1
                && EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(info.count)) == 1
        }
        precondition(isSet, "OpenSSL has HKDF")
        return unsafe Secret(count: count) { output in
            var written = output.count
            // OpenSSL writes exactly as many bytes as the count passed to it.
            let derived = unsafe EVP_PKEY_derive(
                context,
                output.assumingMemoryBound(to: UInt8.self).baseAddress,
                &written
            )
            precondition(derived == 1 && written == count, "at most 255 blocks can be derived")
        }
    }
}
