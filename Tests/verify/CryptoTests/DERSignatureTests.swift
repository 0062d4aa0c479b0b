import Crypto
import TestKit
import Testing

/// The spelling of `SEQUENCE { r, s }`: one is read, all others are refused.
@Suite struct DERSignatureTests {
    private static let order = WycheproofVectors.bytes(
        hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    )

    private static func integer(_ content: [UInt8]) -> [UInt8] { [0x02, UInt8(content.count)] + content }

    private static func sequence(_ content: [UInt8]) -> [UInt8] { [0x30, UInt8(content.count)] + content }

    private static func isRead(_ bytes: [UInt8]) -> Bool { P256Signature(strictDER: bytes) != nil }

    @Test(arguments: [
        ([0x01], [0x7F]),
        ([0x00, 0x80], [0x01]),
        ([UInt8](repeating: 0x7F, count: 32), [0x00] + [UInt8](repeating: 0x80, count: 32)),
        ([0x01], [0x00] + Array(order.dropLast()) + [0x50]),
    ])
    func `minimal positive integers below n are read`(r: [UInt8], s: [UInt8]) throws {
        let bytes = Self.sequence(Self.integer(r) + Self.integer(s))
        let signature = try #require(P256Signature(strictDER: bytes))
        #expect(signature.r.bytes.suffix(r.count) == r.suffix(32)[...])
        #expect(signature.s.bytes.suffix(min(32, s.count)) == s.suffix(32)[...])
        for count in 0..<bytes.count { #expect(!Self.isRead(Array(bytes.prefix(count)))) }
    }

    @Test(arguments: [
        ("zero", [0x00]),
        ("negative", [0x80]),
        ("empty", []),
        ("padded", [0x00, 0x01]),
        ("padded twice", [0x00, 0x00, 0x80]),
        ("negative and padded", [0xFF, 0x80]),
        ("n", [0x00] + order),
        ("above n", [0x00] + [UInt8](repeating: 0xFF, count: 32)),
        ("too long", [0x01] + [UInt8](repeating: 0, count: 32)),
        ("too long with a sign byte", [0x00, 0x80] + [UInt8](repeating: 0, count: 32)),
    ])
    func `a scalar that is out of range or not minimal is refused`(name: String, content: [UInt8]) {
        let one = Self.integer([0x01])
        #expect(Self.isRead(Self.sequence(one + one)))
        #expect(!Self.isRead(Self.sequence(one + Self.integer(content))), "\(name) as s")
        #expect(!Self.isRead(Self.sequence(Self.integer(content) + one)), "\(name) as r")
    }

    @Test(
        arguments: [
            ("nothing", []),
            ("another outer tag", [0x31, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01]),
            ("another inner tag", [0x30, 0x06, 0x0A, 0x01, 0x01, 0x02, 0x01, 0x01]),
            ("a long outer length", [0x30, 0x81, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01]),
            ("a long inner length", [0x30, 0x07, 0x02, 0x81, 0x01, 0x01, 0x02, 0x01, 0x01]),
            ("an indefinite length", [0x30, 0x80, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x00, 0x00]),
            ("a byte after it", [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x00]),
            ("a byte inside after s", [0x30, 0x07, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x00]),
            ("a third integer", [0x30, 0x09, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01]),
            ("one integer", [0x30, 0x03, 0x02, 0x01, 0x01]),
            ("a length past the end", [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x02, 0x01]),
            ("raw scalars", [UInt8](repeating: 0x01, count: 64)),
        ] as [(String, [UInt8])]
    )
    func `any other encoding is refused`(name: String, bytes: [UInt8]) {
        #expect(!Self.isRead(bytes), "\(name)")
    }

    @Test func `no bytes crash the reader`() {
        var state: UInt64 = 42
        for round in 0..<20_000 {
            var bytes: [UInt8] = []
            for _ in 0..<(round % 80) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                // Mostly bytes that a signature is made of, so that deep branches are reached.
                let options: [UInt8] = [0x30, 0x02, 0x00, 0x01, 0x06, 0x20, 0x21, 0x80, 0xFF, UInt8(state >> 56)]
                bytes.append(options[Int(state >> 33) % options.count])
            }
            guard let signature = P256Signature(strictDER: bytes) else { continue }
            #expect(!signature.r.bytes.allSatisfy { $0 == 0 })
        }
    }
}
