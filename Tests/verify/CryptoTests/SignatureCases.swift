import Crypto
import TestKit
import Testing

/// What this machine can run.
let usable = BatchArithmetic.allCases.filter {
    $0 != .ifma || BatchArithmetic.featureMissingForIFMA == nil
}

/// Signatures for comparing engines, made from a seed.
struct SignatureCases {
    let seed: UInt8

    func key(_ index: Int) -> LabKey { LabKey(.p256, seed: [seed, UInt8(index % 13)]) }

    func digest(_ index: Int) -> Digest { SHA256.hash([seed, UInt8(index & 0xFF), UInt8(index >> 8)]) }

    func valid(_ index: Int) -> SignatureCheck { signed(digest(index), by: key(index)) }

    func signed(_ digest: Digest, by key: LabKey) -> SignatureCheck {
        let signature = key.sign(digest: digest.bytes)
        guard let point = P256PublicKey(x963: key.x963), let r = Digest(signature.r), let s = Digest(signature.s) else {
            preconditionFailure("the lab makes points and scalars")
        }
        return .p256(key: point, digest: digest, signature: P256Signature(r: r, s: s))
    }

    func leaf(_ index: Int, of issuer: LabKey, isValid: Bool) -> SignatureCheck {
        guard let key = P384PublicKey(x963: issuer.x963) else { preconditionFailure("the lab makes points") }
        let signature = issuer.sign(digest: digest(index).bytes).der
        return .p384(key: key, digest: digest(isValid ? index : index + 1), signature: signature)
    }

    /// The check with one of the 1,280 bits of x, y, digest, r and s changed.
    func altered(_ check: SignatureCheck, bit: Int) -> SignatureCheck {
        guard case .p256(let key, let digest, let signature) = check else { return check }
        var numbers = [key.x, key.y, digest, signature.r, signature.s]
        numbers[bit / 256] = Self.flipped(numbers[bit / 256], bit: bit % 256)
        return .p256(
            key: P256PublicKey(uncheckedX: numbers[0], y: numbers[1]),
            digest: numbers[2],
            signature: P256Signature(r: numbers[3], s: numbers[4])
        )
    }

    static func flipped(_ number: Digest, bit: Int) -> Digest {
        var bytes = number.bytes
        bytes[bit / 8] ^= 0x80 >> UInt8(bit % 8)
        return Digest(bytes) ?? number
    }
}

extension SignatureCases {
    private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    private static let prime = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
    /// p − n.
    private static let gap = "000000000000000000000000000000004319055358e8617b0c46353d039cdaae"
    /// SEC 2, secp256r1; −y is p − y.
    private static let generatorX = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    private static let generatorY = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"
    private static let oppositeY = "b01cbd1c01e58065711814b583f061e9d431cca994cea1313449bf97c840ae0a"

    /// r, s and digest at the edges of their ranges, and keys whose multiples meet the generator's.
    func edges() throws -> [SignatureCheck] {
        let numbers = try Self.edgeNumbers()
        var checks: [SignatureCheck] = []
        let valid = (0..<4).map { self.valid($0) }
        for (index, number) in numbers.enumerated() {
            guard case .p256(let key, let digest, let signature) = valid[index % 4] else { continue }
            checks.append(.p256(key: key, digest: digest, signature: P256Signature(r: number, s: signature.s)))
            checks.append(.p256(key: key, digest: digest, signature: P256Signature(r: signature.r, s: number)))
            checks.append(.p256(key: key, digest: number, signature: signature))
            checks.append(signed(number, by: self.key(index)))
            checks.append(.p256(key: key, digest: number, signature: P256Signature(r: number, s: number)))
        }
        checks += try Self.nearGenerator(numbers)
        return checks + valid
    }

    private static func edgeNumbers() throws -> [Digest] {
        let anchors = [String(repeating: "0", count: 64), order, prime, gap].map { WycheproofVectors.bytes(hex: $0) }
        let numbers = anchors.flatMap { anchor in (-2...2).map { P384Cases.moved(anchor, by: $0) } }
        return try (numbers + [[UInt8](repeating: 0xFF, count: 32)]).map { try #require(Digest($0)) }
    }

    /// Q = G and −G, with r = x(G): R is a multiple of G that additions meet on their way.
    private static func nearGenerator(_ numbers: [Digest]) throws -> [SignatureCheck] {
        let x = try number(generatorX)
        let keys = try [generatorY, oppositeY].map { P256PublicKey(uncheckedX: x, y: try number($0)) }
        return keys.flatMap { key in
            numbers.flatMap { digest -> [SignatureCheck] in
                [
                    .p256(key: key, digest: digest, signature: P256Signature(r: x, s: x)),
                    .p256(key: key, digest: digest, signature: P256Signature(r: x, s: digest)),
                    // u1 = u2 where the digest is r.
                    .p256(key: key, digest: x, signature: P256Signature(r: x, s: digest)),
                ]
            }
        }
    }

    private static func number(_ hex: String) throws -> Digest {
        try #require(Digest(WycheproofVectors.bytes(hex: hex)))
    }
}
