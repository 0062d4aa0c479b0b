import Crypto
import Testing

@Suite("Forms of a public key")
struct PublicKeyFormTests {
    /// Of the SubjectPublicKeyInfo of a P-256 key, before the point.
    private static let head: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    private static func point() throws -> [UInt8] {
        guard case .p256(let key) = try SigningKey.generate(.p256).publicKey.parameters else { return [] }
        return key.x963
    }

    private static func compressed(_ point: [UInt8]) -> [UInt8] { [0x02 | point[64] & 1] + point[1..<33] }

    private static func pem(_ der: [UInt8], _ name: String = "PUBLIC KEY") -> [UInt8] {
        Array(KeyFixtures.pem(name, der).utf8)
    }

    @Test func `the point, the compressed point, X and Y, DER and PEM name one key`() throws {
        // Both parities of Y, and coordinates that begin with zeros, are among them sooner or later.
        for _ in 0..<32 {
            let point = try Self.point()
            let der = Self.head + point
            for form in [point, Self.compressed(point), Array(point.dropFirst()), der, Self.pem(der)] {
                #expect(P256PublicKey(anyForm: form)?.x963 == point)
            }
        }
    }

    @Test func `bytes that are not a key on P-256 are rejected`() throws {
        let point = try Self.point()
        let der = Self.head + point
        var off = point
        off[64] ^= 1
        var otherCurve = der
        otherCurve[22] = 0x01
        let other: [[UInt8]] = [
            [], [4], off, Array(off.dropFirst()), Self.head + off, der + [0], Array(der.dropLast()), otherCurve,
            [0x06] + point.dropFirst(), [0x04] + Self.compressed(point).dropFirst(), [0x00] + point.dropFirst(),
            [UInt8](repeating: 0, count: 33), [UInt8](repeating: 0xFF, count: 64),
            [0x02] + [UInt8](repeating: 0xFF, count: 32),
            Self.pem(der, "EC PRIVATE KEY"), Self.pem(Array(der.dropLast())), Array("-----BEGIN PUBLIC KEY-----".utf8),
            try SigningKey.generate(.rsa).pem,
        ]
        for form in other { #expect(P256PublicKey(anyForm: form) == nil, "\(form.count) bytes") }
    }

    @Test func `every cut of every form is refused, and none traps`() throws {
        let point = try Self.point()
        for form in [Self.head + point, Self.pem(Self.head + point)] {
            // A PEM text is whole with the last dash, and without its newline.
            for end in 0..<(form.count - 1) where end < form.count - 2 || form[0] != UInt8(ascii: "-") {
                #expect(P256PublicKey(anyForm: Array(form[..<end])) == nil, "\(end)")
            }
        }
    }
}
