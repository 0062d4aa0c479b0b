internal import COpenSSL

/// One call of OpenSSL per signature, with an `EC_KEY` of its own that every check reuses.
///
/// It calls neither a fetch nor a decoder, which are slow and make lanes wait for each other.
@safe package final class OpenSSLEngine: SignatureEngine {
    private let scratchKey: OpaquePointer
    private let signature: ECDSASignature
    private var point: [UInt8]
    private var digest: [UInt8]

    package init() {
        // Owned by the engine, freed in deinit, never handed out.
        unsafe scratchKey = unsafe Curve.p256.makeKey()
        signature = ECDSASignature()
        point = [UInt8](repeating: 0x04, count: P256PublicKey.byteCount)
        digest = [UInt8](repeating: 0, count: Digest.byteCount)
    }

    deinit {
        // The only reference to the key.
        unsafe EC_KEY_free(scratchKey)
    }

    package func verify(_ checks: [SignatureCheck]) -> [Bool] {
        checks.map { isValid($0) }
    }

    /// - Returns: false for anything but a valid signature.
    package func isValid(_ check: SignatureCheck) -> Bool {
        switch check {
        case .p256(let key, let digest, let signature): isValid(signature, of: digest, by: key)
        case .p384(let key, let digest, let der): isValid(der, of: digest, by: key)
        }
    }

    private func isValid(_ pair: P256Signature, of value: Digest, by key: P256PublicKey) -> Bool {
        var span = point.mutableSpan
        key.x.write(to: &span, at: 1)
        key.y.write(to: &span, at: 1 + Digest.byteCount)
        // OpenSSL copies the point, checks that it is on the curve, and keeps no pointer to the bytes.
        guard unsafe EC_KEY_oct2key(scratchKey, point, point.count, nil) == 1 else { return discardErrors() }
        signature.set(r: pair.r, s: pair.s)
        // The engine's own key, as it was just loaded.
        return unsafe isValid(value, by: scratchKey)
    }

    private func isValid(_ der: [UInt8], of value: Digest, by key: P384PublicKey) -> Bool {
        let bytes = der.span
        guard let parts = DERSignature(bytes, scalarBytes: Curve.p384.fieldBytes) else { return false }
        signature.set(r: bytes.extracting(parts.r), s: bytes.extracting(parts.s))
        // The key is only read, and stays alive inside the closure.
        return unsafe key.withKey { unsafe isValid(value, by: $0) }
    }

    private func isValid(_ value: Digest, by key: OpaquePointer) -> Bool {
        var span = digest.mutableSpan
        value.write(to: &span, at: 0)
        // OpenSSL reads the 32 bytes, checks 1 ≤ r, s < n and answers 1, 0 or −1 for an error.
        let answer = unsafe signature.withPointer { signature in
            unsafe ECDSA_do_verify(digest, Int32(Digest.byteCount), signature, key)
        }
        return answer == 1 || discardErrors()
    }

    /// A refused signature is a verdict: its entries must not stay in the thread's error queue.
    private func discardErrors() -> Bool {
        ERR_clear_error()
        return false
    }
}

/// The libraries in this process.
package enum CryptoVersion {
    /// OpenSSL's version as loaded: `3.0.17`.
    package static var openSSL: String {
        // A static text of the library.
        unsafe OpenSSL_version(OPENSSL_VERSION_STRING).map { unsafe String(cString: $0) } ?? ""
    }
}
