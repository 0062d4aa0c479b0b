import Crypto
import TestKit

/// P-384 signatures by one key for comparing engines, made from a seed.
struct P384Cases {
    let issuer: LabKey
    let key: P384PublicKey

    init(seed: UInt8) {
        issuer = LabKey(.p384, seed: [seed])
        guard let key = P384PublicKey(x963: issuer.x963) else { preconditionFailure("the lab makes points") }
        self.key = key
    }

    static func digest(_ index: Int) -> Digest { SHA256.hash([UInt8(index & 0xFF), UInt8(index >> 8)]) }

    func valid(_ index: Int) -> SignatureCheck {
        let digest = Self.digest(index)
        return .p384(key: key, digest: digest, signature: issuer.sign(digest: digest.bytes).der)
    }

    /// The signature of another digest.
    func invalid(_ index: Int) -> SignatureCheck {
        .p384(key: key, digest: Self.digest(index), signature: issuer.sign(digest: Self.digest(index + 1).bytes).der)
    }

    /// The check with a bit of digest, r or s changed: 256, 384 and 384 of them.
    func altered(_ index: Int, bit: Int) -> SignatureCheck {
        let digest = Self.digest(index)
        let signature = issuer.sign(digest: digest.bytes)
        var bytes = digest.bytes + signature.r + signature.s
        bytes[bit / 8] ^= 0x80 >> UInt8(bit % 8)
        return Self.check(key, Digest(Array(bytes[..<32])) ?? digest, Array(bytes[32..<80]), Array(bytes[80...]))
    }

    static func check(_ key: P384PublicKey, _ digest: Digest, _ r: [UInt8], _ s: [UInt8]) -> SignatureCheck {
        .p384(key: key, digest: digest, signature: LabSignature(r: r, s: s).der)
    }
}

extension P384Cases {
    private static let order =
        "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973"
    private static let prime =
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff"
    /// p − n.
    private static let gap = String(repeating: "0", count: 48) + "389cb27e0bc8d21fa7e5f24cb74f58851313e696333ad68c"
    /// SEC 2, secp384r1; −y is p − y.
    private static let generatorX =
        "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7"
    private static let generatorY =
        "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f"
    private static let oppositeY =
        "c9e821b569d9d390a26167406d6d23d6070be242d765eb831625ceec4a0f473ef59f4e30e2817e6285bce2846f15f1a0"

    /// G and −G as keys: additions of their multiples meet G's own.
    static var generators: [P384PublicKey] {
        [generatorY, oppositeY].compactMap {
            P384PublicKey(x963: [0x04] + WycheproofVectors.bytes(hex: generatorX) + WycheproofVectors.bytes(hex: $0))
        }
    }

    /// r, s and digest at the edges of their ranges, and r = x(G).
    static func edges(of key: P384PublicKey) -> [SignatureCheck] {
        let anchors = [String(repeating: "0", count: 96), order, prime, gap].map { WycheproofVectors.bytes(hex: $0) }
        let numbers = anchors.flatMap { anchor in (-2...2).map { moved(anchor, by: $0) } }
        let x = WycheproofVectors.bytes(hex: generatorX)
        let zero = Digest(words: (0, 0, 0, 0))
        let digests = [zero, Digest(words: (0, 0, 0, 1)), digest(7)]
        return digests.flatMap { digest in
            numbers.flatMap { number in
                [check(key, digest, number, number), check(key, digest, x, number), check(key, digest, number, x)]
            }
        } + [check(key, zero, x, x)]
    }

    /// Modulo 2 to the power of the number's bits.
    static func moved(_ number: [UInt8], by distance: Int) -> [UInt8] {
        var (bytes, carry) = (number, distance)
        for index in bytes.indices.reversed() {
            let sum = Int(bytes[index]) + carry
            bytes[index] = UInt8(truncatingIfNeeded: sum)
            carry = sum >> 8
        }
        return bytes
    }
}
