internal import COpenSSL

/// OpenSSL's cheapest way to verify P-256 signatures with nothing around it: a baseline for benchmarks.
///
/// Points, digests and signatures are in OpenSSL's own form before the clock starts; one `EC_KEY` is loaded with each
/// point in turn, which costs less than keeping a key object per device. Not for verdicts. For one thread.
@safe package final class BareVerify {
    package struct Sample: Sendable {
        let key: P256PublicKey
        let digest: Digest
        let signature: P256Signature

        package init(key: P256PublicKey, digest: Digest, signature: P256Signature) {
            self.key = key
            self.digest = digest
            self.signature = signature
        }
    }

    private let scratchKey: OpaquePointer
    private let prepared: [(point: [UInt8], digest: [UInt8], signature: ECDSASignature)]

    package init(_ samples: [Sample]) {
        precondition(!samples.isEmpty, "there is something to verify")
        // Owned by this object, freed in deinit, never handed out.
        unsafe scratchKey = unsafe Curve.p256.makeKey()
        prepared = samples.map { sample in
            let signature = ECDSASignature()
            signature.set(r: sample.signature.r, s: sample.signature.s)
            return (sample.key.x963, sample.digest.bytes, signature)
        }
    }

    deinit {
        // The only reference to the key.
        unsafe EC_KEY_free(scratchKey)
    }

    /// Verifies `count` signatures, the samples in turn.
    ///
    /// - Returns: how many were valid.
    package func run(_ count: Int) -> Int {
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
