internal import COpenSSL

/// OpenSSL's cheapest way to sign digests with nothing around it: a baseline for benchmarks. For one thread.
package final class BareSign {
    private let key: SigningKey
    private let digests: [[UInt8]]
    private var signature: [UInt8]

    package init(_ key: SigningKey, digests: [Digest]) {
        precondition(!digests.isEmpty, "there is something to sign")
        self.key = key
        self.digests = digests.map(\.bytes)
        signature = [UInt8](repeating: 0, count: key.signatureBytes)
    }

    /// Makes `count` signatures, of the digests in turn.
    ///
    /// - Returns: how many were made.
    package func run(_ count: Int) -> Int {
        var made = 0
        for index in 0..<count {
            let digest = digests[index % digests.count]
            if key.kind == .rsa ? signRSA(digest) : signECDSA(digest) { made += 1 }
        }
        return made
    }

    private func signRSA(_ digest: [UInt8]) -> Bool {
        var count: UInt32 = 0
        // OpenSSL reads 32 bytes and writes as many as the modulus has, the buffer's size.
        return unsafe RSA_sign(NID_sha256, digest, 32, &signature, &count, key.handle.rsa) == 1
    }

    private func signECDSA(_ digest: [UInt8]) -> Bool {
        // OpenSSL reads 32 bytes and allocates the pair, which is freed at once.
        guard let pair = unsafe ECDSA_do_sign(digest, 32, key.handle.ec) else { return false }
        unsafe ECDSA_SIG_free(pair)
        return true
    }
}
