internal import Crypto

/// Encodings of an ECDSA signature that strict DER forbids, and scalars that no signature has.
enum SignatureDamage {
    /// The order of P-256 (FIPS 186-4, D.1.2.3).
    static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// `SEQUENCE` of two INTEGERs with the contents given.
    private static func sequence(_ r: [UInt8], _ s: [UInt8]) -> [UInt8] {
        DER.sequence(DER.element(0x02, r), DER.element(0x02, s))
    }

    /// The shortest two's complement form of a positive number.
    private static func content(_ magnitude: [UInt8]) -> [UInt8] { Array(DER.integer(magnitude).dropFirst(2)) }

    static func paddedR(_ signature: LabSignature) -> [UInt8] {
        sequence([0] + content(signature.r), content(signature.s))
    }

    static func paddedS(_ signature: LabSignature) -> [UInt8] {
        sequence(content(signature.r), [0] + content(signature.s))
    }

    /// The INTEGER of a writer that forgets the sign, whatever the number.
    static func negativeR(_ signature: LabSignature) -> [UInt8] {
        var r = signature.r
        r[0] |= 0x80
        return sequence(r, content(signature.s))
    }

    /// s + n: the same residue, out of range.
    static func plusOrder(_ s: [UInt8]) -> [UInt8] {
        var sum: [UInt8] = []
        var carry: UInt16 = 0
        for (left, right) in zip(s.reversed(), order.reversed()) {
            let value = UInt16(left) + UInt16(right) + carry
            sum.append(UInt8(value & 0xFF))
            carry = value >> 8
        }
        return (carry == 0 ? sum : sum + [UInt8(carry)]).reversed()
    }
}
