/// Memory in which a lane verifies what a library has signed; the lane owns it.
package final class SigningScratch {
    // Some 600 KB, which only ES256 needs; few keys sign.
    private lazy var group = P256Group(KeyPointCache(byteCount: 16 * KeyPointCache.keyBytes))

    package init() {}

    /// Whether every signature verifies: RSA's with OpenSSL, P-256's in groups.
    func areValid(_ signatures: [[UInt8]], of digests: [Digest], _ key: SigningKey) -> Bool {
        guard signatures.count == digests.count else { return false }
        guard case .p256(let point) = key.publicKey.parameters else {
            return zip(signatures, digests).allSatisfy { key.publicKey.isValid($0.span, of: $1) }
        }
        return stride(from: 0, to: digests.count, by: P256Group.most).allSatisfy { start in
            let range = start..<min(start + P256Group.most, digests.count)
            group.removeAll()
            for index in range {
                let signature = signatures[index]
                guard signature.count == 2 * Digest.byteCount, let r = Digest(signature.span.extracting(..<32)),
                    let s = Digest(signature.span.extracting(32...))
                else { return false }
                group.append(point, digests[index], P256Signature(r: r, s: s))
            }
            var areValid = true
            group.verify(by: .ifma) { place, verdict in
                switch verdict {
                case .valid: break
                case .refused: areValid = false
                case .undecided:
                    let signature = signatures[start + place]
                    areValid = areValid && key.publicKey.isValid(signature.span, of: digests[start + place])
                }
            }
            return areValid
        }
    }
}
