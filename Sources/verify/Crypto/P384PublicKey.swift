internal import COpenSSL

/// An issuer's P-384 public key, for checking many signatures. Shared, immutable, safe on every lane.
@safe package final class P384PublicKey: Sendable {
    /// SHA-256 of the X9.63 form: what an engine keys its tables by.
    package let id: Digest
    /// The X9.63 uncompressed form, 97 bytes.
    package let x963: [UInt8]
    // Verification only reads the key, so every lane may use it at once; freed in deinit.
    nonisolated(unsafe) private let key: OpaquePointer

    /// - Returns: nil unless `x963` is 97 bytes, starts with 04 and names a point on the curve.
    package init?(x963: Span<UInt8>) {
        guard Curve.p384.contains(x963) else { return nil }
        let bytes = [UInt8](capacity: x963.count) { for index in x963.indices { $0.append(x963[index]) } }
        // The fresh key is ours; OpenSSL copies the point out of the borrowed bytes.
        unsafe key = unsafe Curve.p384.makeKey()
        let loaded = unsafe EC_KEY_oct2key(key, bytes, bytes.count, nil)
        precondition(loaded == 1, "a point that was on the curve a moment ago")
        self.x963 = bytes
        id = SHA256.hash(bytes)
    }

    /// - Returns: nil unless `x963` is 97 bytes, starts with 04 and names a point on the curve.
    package convenience init?(x963: [UInt8]) { self.init(x963: x963.span) }

    deinit {
        // The pointer has no other owner: it leaves only through `withKey`.
        unsafe EC_KEY_free(key)
    }

    /// The `EC_KEY`, valid inside `body` and only to be read.
    func withKey<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(key)
    }
}
