/// An ECDSA signature over P-256 as two scalars, each in 1 ..< n.
package struct P256Signature: Hashable, Sendable {
    package let r: Digest
    package let s: Digest

    /// The order n of the curve's group (SEC 2, secp256r1).
    private static let order = Digest(
        words: (0xFFFF_FFFF_0000_0000, 0xFFFF_FFFF_FFFF_FFFF, 0xBCE6_FAAD_A717_9E84, 0xF3B9_CAC2_FC63_2551)
    )

    /// Reads a strict DER `SEQUENCE { r INTEGER, s INTEGER }` (X.690: minimal, no trailing bytes).
    ///
    /// - Returns: nil for any other spelling, for zero and for values ≥ n.
    package init?(strictDER bytes: Span<UInt8>) {
        guard let parts = DERSignature(bytes, scalarBytes: Digest.byteCount),
            let r = Digest(leftPadding: bytes.extracting(parts.r)),
            let s = Digest(leftPadding: bytes.extracting(parts.s)),
            Self.isScalar(r), Self.isScalar(s)
        else { return nil }
        (self.r, self.s) = (r, s)
    }

    /// - Returns: nil for anything but strict DER with scalars in 1 ..< n.
    package init?(strictDER bytes: [UInt8]) { self.init(strictDER: bytes.span) }

    package init(r: Digest, s: Digest) { (self.r, self.s) = (r, s) }

    private static func isScalar(_ value: Digest) -> Bool {
        !value.isZero && value.words < order.words
    }
}
