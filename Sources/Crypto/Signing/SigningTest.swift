/// Compares a library's signatures with OpenSSL's before the library may sign with a key.
enum SigningTest {
    /// Whether the library signs as OpenSSL does: each of eight digests at each of the eight places.
    static func passes(_ signer: any GroupSigner, _ key: SigningKey) -> Bool {
        let digests = (0..<GroupSize.group).map { SHA256.hash([UInt8($0)] + Array("attest-worker".utf8)) }
        // RSA is deterministic: OpenSSL's own bytes. ES256 is not: what OpenSSL verifies.
        let expected = key.kind == .rsa ? digests.map { key.sign($0) } : []
        return digests.indices.allSatisfy { turn in
            let places = digests.indices.map { ($0 + turn) % GroupSize.group }
            guard let signatures = signer.sign(places.map { digests[$0] }, with: key),
                signatures.count == GroupSize.group
            else { return false }
            return zip(places, signatures).allSatisfy { place, signature in
                key.kind == .rsa
                    ? signature == expected[place] : key.publicKey.isValid(signature.span, of: digests[place])
            }
        }
    }
}
