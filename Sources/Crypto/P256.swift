/// A P-256 public key: affine coordinates, big-endian. The initialiser checks that the point is on the curve.
package struct P256PublicKey: Hashable, Sendable {
    package let x: Digest
    package let y: Digest

    /// Bytes of the X9.63 uncompressed form `04 ‖ X ‖ Y`.
    package static let byteCount = 65

    /// - Returns: nil unless `x963` is 65 bytes, starts with 04 and names a point on the curve.
    package init?(x963: Span<UInt8>) {
        guard Curve.p256.contains(x963),
            let x = Digest(x963.extracting(1..<33)), let y = Digest(x963.extracting(33..<65))
        else { return nil }
        self.x = x
        self.y = y
    }

    /// - Returns: nil unless `x963` is 65 bytes, starts with 04 and names a point on the curve.
    package init?(x963: [UInt8]) { self.init(x963: x963.span) }

    /// For points that were checked before (a ledger's own entries): the curve is not checked again.
    package init(uncheckedX x: Digest, y: Digest) {
        self.x = x
        self.y = y
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
    package var digest: Digest { SHA256.hash(x963) }
}

/// An ECDSA signature over P-256 as two scalars, each in 1 ..< n.
package struct P256Signature: Hashable, Sendable {
    package let r: Digest
    package let s: Digest

    /// The order n of the curve's group (SEC 2, secp256r1).
    private static let order = Digest(
        words: (0xFFFF_FFFF_0000_0000, 0xFFFF_FFFF_FFFF_FFFF, 0xBCE6_FAAD_A717_9E84, 0xF3B9_CAC2_FC63_2551)
    )

    /// Reads a strict DER `SEQUENCE { r INTEGER, s INTEGER }` (X.690: minimal, no leftovers).
    ///
    /// - Returns: nil for any other spelling, for zero and for values ≥ n.
    package init?(strictDER bytes: Span<UInt8>) {
        guard let parts = DERSignature(bytes, scalarBytes: Digest.byteCount),
            let r = Digest(leftPadding: bytes.extracting(parts.r)),
            let s = Digest(leftPadding: bytes.extracting(parts.s)),
            Self.isScalar(r), Self.isScalar(s)
        else { return nil }
        self.r = r
        self.s = s
    }

    /// - Returns: nil for anything but strict DER with scalars in 1 ..< n.
    package init?(strictDER bytes: [UInt8]) { self.init(strictDER: bytes.span) }

    package init(r: Digest, s: Digest) {
        self.r = r
        self.s = s
    }

    private static func isScalar(_ value: Digest) -> Bool {
        !value.isZero && Digest.isLess(value, order)
    }
}
