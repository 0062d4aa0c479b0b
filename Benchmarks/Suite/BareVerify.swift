internal import COpenSSL
internal import Crypto

/// OpenSSL's cheapest way to verify P-256 signatures with nothing around it: a baseline.
///
/// Points, digests and signatures are in OpenSSL's own form before the clock starts; one `EC_KEY` is loaded with each
/// point in turn, which costs less than keeping a key object per device. Not for verdicts. For one thread.
@safe final class BareVerify {
    struct Sample: Sendable {
        let key: P256PublicKey
        let digest: Digest
        let signature: P256Signature
    }

    private let scratchKey: OpaquePointer
    private let prepared: [(point: [UInt8], digest: [UInt8], signature: BareSignature)]

    init(_ samples: [Sample]) {
        precondition(!samples.isEmpty, "there is something to verify")
        // Owned by this object, freed in deinit, never handed out.
        guard let key = unsafe EC_KEY_new_by_curve_name(NID_X9_62_prime256v1) else {
            preconditionFailure("out of memory")
        }
        unsafe scratchKey = unsafe key
        prepared = samples.map { ($0.key.x963, $0.digest.bytes, BareSignature($0.signature)) }
    }

    deinit {
        // The only reference to the key.
        unsafe EC_KEY_free(scratchKey)
    }

    /// Verifies `count` signatures, the samples in turn.
    ///
    /// - Returns: how many were valid.
    func run(_ count: Int) -> Int {
        var valid = 0
        for index in 0..<count {
            let sample = prepared[index % prepared.count]
            // OpenSSL copies the point and reads 32 bytes of digest; both arrays outlive the calls.
            guard unsafe EC_KEY_oct2key(scratchKey, sample.point, sample.point.count, nil) == 1 else { continue }
            let answer = unsafe sample.signature.withPointer { signature in
                unsafe ECDSA_do_verify(sample.digest, Int32(sample.digest.count), signature, scratchKey)
            }
            if answer == 1 { valid += 1 }
        }
        return valid
    }
}

/// A signature in OpenSSL's own form.
@safe private final class BareSignature {
    private let pointer: OpaquePointer

    init(_ signature: P256Signature) {
        let (r, s) = (signature.r.bytes, signature.s.bytes)
        // OpenSSL reads 32 bytes each; `ECDSA_SIG_set0` hands both numbers to the pair, which frees them with itself.
        guard let pair = unsafe ECDSA_SIG_new(),
            unsafe ECDSA_SIG_set0(pair, BN_bin2bn(r, Int32(r.count), nil), BN_bin2bn(s, Int32(s.count), nil)) == 1
        else { preconditionFailure("out of memory") }
        unsafe pointer = unsafe pair
    }

    deinit {
        // The only reference to the pair.
        unsafe ECDSA_SIG_free(pointer)
    }

    /// The `ECDSA_SIG`, valid inside `body`.
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(pointer)
    }
}
