internal import Threads

/// The parts that our own arithmetic needs to judge one certificate's signature: its memory, and the multiples of the
/// authorities that were asked last. Apple has one that signs receipts.
final class CertificateArithmetic {
    static let shared = Kept()

    private let p256 = P256Group(KeyPointCache(byteCount: 16 * KeyPointCache.keyBytes), keepsAll: true)
    private let p384 = P384Group()

    /// Whether the key certainly did not make the signature.
    func isRefused(_ digest: Digest, _ signature: P256Signature, by key: P256PublicKey) -> Bool {
        p256.removeAll()
        p256.append(key, digest, signature)
        var isRefused = false
        p256.verify(by: .portable) { _, verdict in isRefused = verdict == .refused }
        return isRefused
    }

    /// Whether the table's key certainly did not make the signature.
    ///
    /// - Parameter der: SEQUENCE { r, s }.
    func isRefused(_ digest: P384Number, _ der: [UInt8], by table: P384Table) -> Bool {
        p384.removeAll()
        guard p384.append(digest, der) else { return true }
        var isRefused = false
        p384.verify(table, by: .portable) { _, verdict in isRefused = verdict == .refused }
        return isRefused
    }

    /// Each thread takes an idle one. A new one costs more than a verification.
    final class Kept: Sendable {
        private let idle = Locked<[CertificateArithmetic]>([])

        func with(_ body: (CertificateArithmetic) -> Bool) -> Bool {
            let own = idle.withLock { $0.popLast() } ?? CertificateArithmetic()
            defer { idle.withLock { $0.append(own) } }
            return body(own)
        }
    }
}
