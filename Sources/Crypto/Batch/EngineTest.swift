/// Known signatures that an engine must judge rightly before it may be used: those of RFC 6979, appendices A.2.5 and
/// A.2.6, and the same with one bit changed, at every place of a group.
package enum EngineTest {
    /// What is wrong with our own arithmetic on this machine.
    ///
    /// - Returns: what it got wrong, as the end of a sentence; nil if nothing.
    package static func failure(of arithmetic: BatchArithmetic) -> String? {
        // Tables of its own: the process keeps those of real issuers.
        let tables = P384Tables()
        for case .p384(let key, _, _) in cases.map(\.valid) { tables.prepare(key) }
        let watch = EngineWatch(crossCheck: 0, key: 0) { _ in }
        return failure(of: BatchEngine(arithmetic, watch: watch, tables: tables))
    }

    /// - Returns: what the engine got wrong, as the end of a sentence; nil if nothing.
    package static func failure(of engine: any SignatureEngine) -> String? {
        for (curve, valid, invalid) in cases {
            guard engine.verify([valid]) == [true] else { return "it refuses a valid \(curve) signature" }
            guard engine.verify([invalid]) == [false] else { return "it accepts an invalid \(curve) signature" }
            for place in 0..<groupSize {
                var checks = Array(repeating: valid, count: groupSize)
                checks[place] = invalid
                let wrong = engine.verify(checks).enumerated().first { $0.element != ($0.offset != place) }
                if let wrong { return "it misjudges a \(curve) signature at place \(wrong.offset) of a group" }
            }
        }
        return nil
    }

    /// Every lane, and a group that is not full.
    private static let groupSize = 11

    private static var cases: [(curve: String, valid: SignatureCheck, invalid: SignatureCheck)] {
        guard let p256 = P256PublicKey(x963: hex("04" + p256Key)), let r = Digest(hex(p256R)),
            let s = Digest(hex(p256S)), let p384 = P384PublicKey(x963: hex("04" + p384Key))
        else { preconditionFailure("the points of RFC 6979 are on their curves") }
        let (digest, other) = (SHA256.hash(Array("sample".utf8)), SHA256.hash(Array("Sample".utf8)))
        let (pair, der) = (P256Signature(r: r, s: s), hex(p384DER))
        return [
            (
                "P-256", .p256(key: p256, digest: digest, signature: pair),
                .p256(key: p256, digest: other, signature: pair)
            ),
            (
                "P-384", .p384(key: p384, digest: digest, signature: der),
                .p384(key: p384, digest: other, signature: der)
            ),
        ]
    }

    private static let p256Key =
        "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB67903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F51"
        + "77A3C294D4462299"
    private static let p256R = "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
    private static let p256S = "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
    private static let p384Key =
        "EC3A4E415B4E19A4568618029F427FA5DA9A8BC4AE92E02E06AAE5286B300C64DEF8F0EA9055866064A254515480BC138015D9B72D7D5724"
        + "4EA8EF9AC0C621896708A59367F9DFB9F54CA84B3F1C9DB1288B231C3AE0D4FE7344FD2533264720"
    /// SEQUENCE { r, s }.
    private static let p384DER =
        "3065023021B13D1E013C7FA1392D03C5F99AF8B30C570C6F98D4EA8E354B63A21D3DAA33BDE1E888E63355D92FA2B3C36D8FB2CD"
        + "023100F3AA443FB107745BF4BD77CB3891674632068A10CA67E3D45DB2266FA7D1FEEBEFDC63ECCD1AC42EC0CB8668A4FA0AB0"

    private static func hex(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x37 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
