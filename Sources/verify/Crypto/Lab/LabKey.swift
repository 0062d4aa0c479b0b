internal import COpenSSL

/// The two curves of App Attest, as the lab signs over them.
package enum LabCurve: String, Sendable, CaseIterable {
    case p256, p384

    /// Bytes of a coordinate or a scalar.
    package var byteCount: Int { self == .p256 ? 32 : 48 }
    var wordCount: Int { byteCount / 8 }
}

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
    package convenience init(_ curve: LabCurve, seed: [UInt8]) {
        let key = LabBatch().keys(curve, seeds: [seed])[0]
        self.init(curve, scalar: key.scalar, x963: key.x963)
    }

    /// A key that was made already: the point is the scalar's.
    init(_ curve: LabCurve, scalar: [UInt8], x963: [UInt8]) {
        (self.curve, self.scalar, self.x963) = (curve, scalar, x963)
    }

    /// The public point in X9.63 compressed form: 33 or 49 bytes.
    package var compressed: [UInt8] {
        let isOdd = x963[2 * curve.byteCount] & 1
        return [0x02 | isOdd] + x963[1...curve.byteCount]
    }

    /// ECDSA over `digest` (its leftmost bits, FIPS 186-4), with a nonce hashed from key and digest.
    ///
    /// - Parameter digest: at most as many bytes as the curve's order.
    package func sign(digest: [UInt8]) -> LabSignature {
        LabBatch().sign([LabSigningRequest(key: self, digest: digest)])[0]
    }

    /// SHA-384: what authorities sign certificates over.
    package static func sha384(_ bytes: [UInt8]) -> [UInt8] { SignatureHash.sha384.hash(bytes.span) }

    /// SHA-1: what RFC 5280 key identifiers are made with; nothing rests on it.
    package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: Int(SHA_DIGEST_LENGTH)) { buffer, initialized in
            // SHA1 reads `count` bytes of the input and writes exactly 20 into the fresh buffer.
            unsafe bytes.withUnsafeBufferPointer { _ = unsafe SHA1($0.baseAddress, $0.count, buffer.baseAddress) }
            initialized = Int(SHA_DIGEST_LENGTH)
        }
    }
}
