internal import CBatchVerify

/// A P-256 public key: affine coordinates, big-endian. The initialiser checks that the point is on the curve.
package struct P256PublicKey: Hashable, Sendable {
    package let x: Digest
    package let y: Digest

    /// Bytes of the X9.63 uncompressed form `04 ‖ X ‖ Y`.
    package static let byteCount = 65

    /// - Returns: nil unless `x963` is 65 bytes, starts with 04 and names a point on the curve.
    package init?(x963: Span<UInt8>) {
        guard x963.count == Self.byteCount, x963[0] == Self.uncompressed[0],
            let x = Digest(x963.extracting(1..<33)), let y = Digest(x963.extracting(33..<65))
        else { return nil }
        self.init(x: x, y: y)
    }

    /// The batch engines' own check: 0.05 us, where OpenSSL takes 0.75.
    ///
    /// - Returns: nil unless (x, y) is a point on the curve.
    package init?(x: Digest, y: Digest) {
        let isOnCurve = unsafe withUnsafePointer(to: x.words) { x in
            unsafe withUnsafePointer(to: y.words) { y in
                // Four words each, which are read.
                unsafe x.withMemoryRebound(to: UInt64.self, capacity: 4) { x in
                    unsafe y.withMemoryRebound(to: UInt64.self, capacity: 4) { unsafe cbv_p256_is_on_curve(x, $0) }
                }
            }
        }
        guard isOnCurve != 0 else { return nil }
        (self.x, self.y) = (x, y)
    }

    /// The first byte of the X9.63 uncompressed form.
    private static let uncompressed: [UInt8] = [0x04]

    /// - Returns: nil unless `x963` is 65 bytes, starts with 04 and names a point on the curve.
    package init?(x963: [UInt8]) { self.init(x963: x963.span) }

    /// Takes a point that was checked before (a ledger's own entry): the curve is not checked again.
    package init(uncheckedX x: Digest, y: Digest) { (self.x, self.y) = (x, y) }

    /// Calls `body` with X ‖ Y, 64 bytes.
    package func withCoordinates<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        func big(_ digest: Digest) -> (UInt64, UInt64, UInt64, UInt64) {
            let words = digest.words
            return (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)
        }
        // Eight words without padding are 64 bytes, which live as long as the call.
        return unsafe withUnsafeBytes(of: (big(x), big(y))) { body(unsafe $0.bindMemory(to: UInt8.self).span) }
    }

    /// The X9.63 uncompressed form, 65 bytes.
    package var x963: [UInt8] {
        [UInt8](capacity: Self.byteCount) {
            $0.append(0x04)
            x.write(to: &$0)
            y.write(to: &$0)
        }
    }

    /// SHA-256 of the X9.63 form: Apple's key ID.
    package var digest: Digest { withCoordinates { SHA256.hash(Self.uncompressed.span, $0) } }
}
