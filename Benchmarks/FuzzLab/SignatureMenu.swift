internal import Crypto
internal import DeviceLab

/// P-256 signatures to be compared: half of them valid.
struct SignatureMenu {
    private let keys: [LabKey]
    private let lab: LabBatch

    /// The order n, p, p − n and x of the generator, most significant word first.
    private static let edges: [(UInt64, UInt64, UInt64, UInt64)] = [
        (0, 0, 0, 0),
        (0xFFFF_FFFF_0000_0000, 0xFFFF_FFFF_FFFF_FFFF, 0xBCE6_FAAD_A717_9E84, 0xF3B9_CAC2_FC63_2551),
        (0xFFFF_FFFF_0000_0001, 0, 0x0000_0000_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF),
        (0, 0, 0x4319_0553_58E8_617B, 0x0C46_353D_039C_DAAE),
        (0x6B17_D1F2_E12C_4247, 0xF8BC_E6E5_63A4_40F2, 0x7703_7D81_2DEB_33A0, 0xF4A1_3945_D898_C296),
    ]

    init(_ lab: LabBatch, _ random: inout SeededRandom) {
        self.lab = lab
        let stamp = random.next()
        keys = lab.keys(
            .p256,
            seeds: (0..<64).map { index in (0..<8).map { UInt8(stamp >> (8 * $0) & 0xFF) } + [index] }
        )
    }

    func checks(_ count: Int, _ random: inout SeededRandom) -> [SignatureCheck] {
        let signers = (0..<count).map { _ in keys[Int(random.next() % UInt64(keys.count))] }
        let digests = (0..<count).map { _ in random.next() % 8 == 0 ? Self.edge(&random) : Self.number(&random) }
        let requests = zip(signers, digests).map { LabSigningRequest(key: $0, digest: $1.bytes) }
        return zip(lab.sign(requests), zip(signers, digests)).compactMap { signature, signed in
            guard let key = P256PublicKey(x963: signed.0.x963), let r = Digest(signature.r), let s = Digest(signature.s)
            else { return nil }
            return Self.served(key, signed.1, P256Signature(r: r, s: s), &random)
        }
    }

    /// As signed, or with one thing changed.
    private static func served(
        _ key: P256PublicKey,
        _ digest: Digest,
        _ signature: P256Signature,
        _ random: inout SeededRandom
    ) -> SignatureCheck {
        let (r, s) = (signature.r, signature.s)
        switch random.next() % 16 {
        case 8: return nearGenerator(random.next() % 2 == 0 ? edge(&random) : digest, &random)
        case 0: return .p256(key: key, digest: flipped(digest, &random), signature: signature)
        case 1: return .p256(key: key, digest: digest, signature: P256Signature(r: flipped(r, &random), s: s))
        case 2: return .p256(key: key, digest: digest, signature: P256Signature(r: r, s: flipped(s, &random)))
        case 3: return .p256(key: key, digest: digest, signature: P256Signature(r: edge(&random), s: s))
        case 4: return .p256(key: key, digest: digest, signature: P256Signature(r: r, s: edge(&random)))
        case 5: return .p256(key: off(key, &random), digest: digest, signature: signature)
        case 6: return .p256(key: key, digest: digest, signature: P256Signature(r: s, s: r))
        case 7:
            let (one, other) = (edge(&random), edge(&random))
            return .p256(
                key: key,
                digest: one,
                signature: P256Signature(r: other, s: random.next() % 2 == 0 ? one : other)
            )
        default: return .p256(key: key, digest: digest, signature: signature)
        }
    }

    /// Another point, hardly ever of the curve.
    private static func off(_ key: P256PublicKey, _ random: inout SeededRandom) -> P256PublicKey {
        random.next() % 2 == 0
            ? P256PublicKey(uncheckedX: flipped(key.x, &random), y: key.y)
            : P256PublicKey(uncheckedX: key.x, y: random.next() % 2 == 0 ? edge(&random) : flipped(key.y, &random))
    }

    /// A valid signature by the private key 1 or n − 1 with the nonce 1: Q = ±G and R = G, so that additions meet equal
    /// and opposite points.
    private static func nearGenerator(_ digest: Digest, _ random: inout SeededRandom) -> SignatureCheck {
        let x = Digest(words: edges[4])
        let y = Digest(
            words: (0x4FE3_42E2_FE1A_7F9B, 0x8EE7_EB4A_7C0F_9E16, 0x2BCE_3357_6B31_5ECE, 0xCBB6_4068_37BF_51F5)
        )
        let (order, prime) = (edges[1], edges[2])
        let isNegated = random.next() % 2 == 0
        let key = P256PublicKey(uncheckedX: x, y: isNegated ? Digest(words: difference(prime, y.words).words) : y)
        // s = (e ± r) / 1 modulo n.
        let e = difference(digest.words, order)
        let reduced = e.borrows ? digest.words : e.words
        let r = isNegated ? difference(order, x.words).words : x.words
        // e + r = e − (n − r), and n more where that is negative.
        let s = difference(reduced, difference(order, r).words)
        let sum = s.borrows ? difference(s.words, difference((0, 0, 0, 0), order).words).words : s.words
        return .p256(key: key, digest: digest, signature: P256Signature(r: x, s: Digest(words: sum)))
    }

    private typealias Words = (UInt64, UInt64, UInt64, UInt64)

    /// a − b modulo 2^256.
    private static func difference(_ a: Words, _ b: Words) -> (words: Words, borrows: Bool) {
        func step(_ a: UInt64, _ b: UInt64, _ borrow: inout Bool) -> UInt64 {
            let (first, one) = a.subtractingReportingOverflow(b)
            let (second, two) = first.subtractingReportingOverflow(borrow ? 1 : 0)
            borrow = one || two
            return second
        }
        var borrow = false
        let w3 = step(a.3, b.3, &borrow)
        let w2 = step(a.2, b.2, &borrow)
        let w1 = step(a.1, b.1, &borrow)
        let w0 = step(a.0, b.0, &borrow)
        return ((w0, w1, w2, w3), borrow)
    }

    static func number(_ random: inout SeededRandom) -> Digest {
        Digest(words: (random.next(), random.next(), random.next(), random.next()))
    }

    static func flipped(_ number: Digest, _ random: inout SeededRandom) -> Digest {
        var words = [number.words.0, number.words.1, number.words.2, number.words.3]
        words[Int(random.next() % 4)] ^= 1 << (random.next() % 64)
        return Digest(words: (words[0], words[1], words[2], words[3]))
    }

    /// Within three of the end of a range.
    private static func edge(_ random: inout SeededRandom) -> Digest {
        var words = edges[Int(random.next() % UInt64(edges.count))]
        words.3 = words.3 &+ (random.next() % 7) &- 3
        return Digest(words: words)
    }
}
