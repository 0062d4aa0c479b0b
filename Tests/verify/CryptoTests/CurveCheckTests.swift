import DeviceLab
import Testing

@testable import Crypto

/// Keys' points are checked by the engines' arithmetic: OpenSSL says the same of each.
@Suite struct CurveCheckTests {
    private static func check(_ x963: [UInt8]) -> Bool {
        let found = P256PublicKey(x963: x963) != nil
        #expect(found == Curve.p256.contains(x963.span), "\(x963)")
        return found
    }

    private static func form(_ x: Digest, _ y: Digest) -> [UInt8] { [0x04] + x.bytes + y.bytes }

    @Test(arguments: 0..<8)
    func `random points and what is next to them`(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<40 {
            let key = LabKey(.p256, seed: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
            let point = key.x963
            #expect(Self.check(point))
            var flipped = point
            flipped[1 + Int.random(in: 0..<64, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            _ = Self.check(flipped)
            #expect(
                !Self.check([0x05] + point.dropFirst()) && !Self.check(Array(point.dropLast()))
                    && !Self.check(point + [0])
            )
        }
    }

    @Test func `coordinates from p on are refused, also where they are those of a point modulo p`() throws {
        // An x below 2^256 - p can be written a second time, as x + p.
        let p = Digest(words: (0xFFFF_FFFF_0000_0001, 0, 0x0000_0000_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF))
        var written = 0
        for small in UInt64(0)..<64 {
            let x = Digest(words: (0, 0, 0, small))
            guard let point = P256PublicKey(anyForm: [0x02] + x.bytes) else { continue }
            #expect(Self.check(point.x963))
            let (low, carry) = p.words.3.addingReportingOverflow(small)
            let wrapped = Digest(words: (p.words.0, p.words.1, p.words.2 + (carry ? 1 : 0), low))
            #expect(!Self.check(Self.form(wrapped, point.y)))
            written += 1
        }
        #expect(written > 10)
        let zero = Digest(words: (0, 0, 0, 0))
        for pair in [(zero, zero), (p, zero), (zero, p), (p, p)] { #expect(!Self.check(Self.form(pair.0, pair.1))) }
    }
}
