internal import COpenSSL

/// A private key made from a seed, for fake devices and fake authorities: lab keys only, never for secrets.
///
/// Nothing here is constant-time, and the same key and digest always give the same signature.
package final class LabKey: Sendable {
    package let curve: LabCurve
    /// The private scalar, in 1 ..< n. Not secret: the seed gives the key.
    package let scalar: [UInt8]
    /// The public point in X9.63 uncompressed form: 65 or 97 bytes.
    package let x963: [UInt8]

    /// - Parameter seed: any bytes; the scalar is hashed from them.
    package init(_ curve: LabCurve, seed: [UInt8]) {
        self.curve = curve
        let scalar = LabKey.scalar(from: Array("lab key".utf8) + seed, on: curve)
        let scratch = LabScratch()
        let point = LabPoint(scalar, on: curve.group, scratch: scratch)
        self.scalar = scalar.bytes(curve.byteCount)
        x963 = point.x963(compressed: false, byteCount: curve.byteCount, scratch: scratch)
    }

    /// A key that was made already: the point is the scalar's.
    init(_ curve: LabCurve, scalar: [UInt8], x963: [UInt8]) {
        (self.curve, self.scalar, self.x963) = (curve, scalar, x963)
    }

    /// The public point in X9.63 compressed form: 33 or 49 bytes.
    package var compressed: [UInt8] {
        let scratch = LabScratch()
        let point = LabPoint(LabNumber(bigEndian: scalar), on: curve.group, scratch: scratch)
        return point.x963(compressed: true, byteCount: curve.byteCount, scratch: scratch)
    }

    /// ECDSA over `digest` (its leftmost bits, FIPS 186-4), with a nonce hashed from key and digest.
    ///
    /// - Parameter digest: at most as many bytes as the curve's order.
    package func sign(digest: [UInt8]) -> LabSignature {
        precondition(digest.count <= curve.byteCount, "the digest is no longer than the order")
        let scratch = LabScratch()
        var salt: UInt8 = 0
        while true {
            let nonce = LabKey.scalar(from: Array("lab nonce".utf8) + [salt] + scalar + digest, on: curve)
            let r = LabPoint(nonce, on: curve.group, scratch: scratch).x(scratch)
            r.reduce(modulo: curve.group, scratch: scratch)
            let s = LabNumber(bigEndian: scalar)
            s.multiply(by: r, modulo: curve.group, scratch: scratch)
            s.add(LabNumber(bigEndian: digest), modulo: curve.group, scratch: scratch)
            nonce.invert(modulo: curve.group, scratch: scratch)
            s.multiply(by: nonce, modulo: curve.group, scratch: scratch)
            if !r.isZero && !s.isZero {
                return LabSignature(r: r.bytes(curve.byteCount), s: s.bytes(curve.byteCount))
            }
            salt &+= 1
        }
    }

    /// SHA-384: what authorities sign certificates over.
    package static func sha384(_ bytes: [UInt8]) -> [UInt8] { SHA384.hash(bytes.span) }

    /// SHA-1: what RFC 5280 key identifiers are made with; nothing rests on it.
    package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](capacity: Int(SHA_DIGEST_LENGTH)) { output in
            // SHA1 reads `count` bytes of the input and writes exactly 20 into the fresh buffer.
            unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
                unsafe bytes.withUnsafeBufferPointer { _ = unsafe SHA1($0.baseAddress, $0.count, buffer.baseAddress) }
                initialized = Int(SHA_DIGEST_LENGTH)
            }
        }
    }

    /// A scalar in 1 ..< n hashed from `bytes`.
    private static func scalar(from bytes: [UInt8], on curve: LabCurve) -> LabNumber {
        var wide = SHA256.hash([1] + bytes).bytes
        if curve == .p384 { wide += SHA256.hash([2] + bytes).bytes.prefix(16) }
        let scratch = LabScratch()
        let number = LabNumber(bigEndian: wide)
        number.reduce(modulo: curve.group, scratch: scratch)
        guard number.isZero else { return number }
        return LabNumber(bigEndian: [1])
    }
}
