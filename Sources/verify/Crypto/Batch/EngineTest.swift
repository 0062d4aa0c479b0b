/// Known signatures that an engine must judge rightly before it may be used: those of RFC 6979, appendices A.2.5 and
/// A.2.6, and one of Wycheproof, and the same over another message, at every place of a group.
package enum EngineTest {
    /// Tests our own arithmetic on this machine.
    ///
    /// - Parameter inGroups: false where signatures are verified one by one: groups take a hundred times as long.
    /// - Returns: what it got wrong, as the end of a sentence; nil if nothing.
    package static func failure(of arithmetic: BatchArithmetic, inGroups: Bool = true) -> String? {
        // The test has its own tables: the process keeps those of real issuers.
        let tables = P384Tables()
        for case .p384(let key, _, _) in cases.flatMap(\.valid) { tables.prepare(key) }
        let watch = EngineWatch(crossCheck: 0, key: 0) { _ in }
        return failure(of: BatchEngine(arithmetic, watch: watch, tables: tables), inGroups: inGroups)
    }

    /// - Returns: what the engine got wrong, as the end of a sentence; nil if nothing.
    package static func failure(of engine: any SignatureEngine, inGroups: Bool = true) -> String? {
        for (curve, valid) in cases {
            for check in valid {
                guard engine.verify([check]) == [true] else { return "it refuses a valid \(curve) signature" }
                guard engine.verify([altered(check)]) == [false] else {
                    return "it accepts an invalid \(curve) signature"
                }
            }
            for (size, step) in inGroups ? groups : [] {
                // Neighbours differ in key, digest and signature: a lane that reads another one's shows.
                let group = (0..<size).map { valid[$0 % valid.count] }
                for place in stride(from: 0, to: size, by: step) {
                    var checks = group
                    checks[place] = altered(checks[place])
                    let wrong = engine.verify(checks).enumerated().first { $0.element != ($0.offset != place) }
                    if let wrong { return "it misjudges a \(curve) signature at place \(wrong.offset) of a group" }
                }
            }
        }
        return nil
    }

    /// One that is not full, every place of it; and the largest, in each lane and each eight once.
    private static let groups = [(size: 11, step: 1), (size: P256Group.most, step: 9)]

    private static func altered(_ check: SignatureCheck) -> SignatureCheck {
        let other = SHA256.hash(Array("Sample".utf8))
        return switch check {
        case .p256(let key, _, let signature): .p256(key: key, digest: other, signature: signature)
        case .p384(let key, _, let der): .p384(key: key, digest: other, signature: der)
        }
    }

    private static var cases: [(curve: String, valid: [SignatureCheck])] {
        [
            (
                "P-256",
                [
                    p256(
                        rfc6979P256,
                        "sample",
                        "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
                            + "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
                    ),
                    p256(
                        wycheproofP256,
                        "123400",
                        "A8EA150CB80125D7381C4C1F1DA8E9DE2711F9917060406A73D7904519E51388"
                            + "F3AB9FA68BD47973A73B2D40480C2BA50C22C9D76EC217257288293285449B86"
                    ),
                    p256(
                        rfc6979P256,
                        "test",
                        "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367"
                            + "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
                    ),
                ]
            ),
            (
                "P-384",
                [
                    p384(
                        "sample",
                        "3065"
                            + "023021B13D1E013C7FA1392D03C5F99AF8B30C570C6F98D4EA8E354B63A21D3DAA33BDE1E888E63355D92FA2B3C36D8FB2CD"
                            + "023100F3AA443FB107745BF4BD77CB3891674632068A10CA67E3D45DB2266FA7D1FEEBEFDC63ECCD1AC42EC0CB8668A4FA0AB0"
                    ),
                    p384(
                        "test",
                        "3064"
                            + "02306D6DEFAC9AB64DABAFE36C6BF510352A4CC27001263638E5B16D9BB51D451559F918EEDAF2293BE5B475CC8F0188636B"
                            + "02302D46F3BECBCC523D5F1A1256BF0C9B024D879BA9E838144C8BA6BAEB4B53B47D51AB373F9845C0514EEFB14024787265"
                    ),
                ]
            ),
        ]
    }

    /// - Parameter signature: r ‖ s.
    private static func p256(_ key: String, _ message: String, _ signature: String) -> SignatureCheck {
        let pair = hex(signature)
        guard let key = P256PublicKey(x963: hex("04" + key)), let r = Digest(pair.span.extracting(..<32)),
            let s = Digest(pair.span.extracting(32...))
        else { preconditionFailure("a published key is on its curve") }
        return .p256(key: key, digest: SHA256.hash(Array(message.utf8)), signature: P256Signature(r: r, s: s))
    }

    /// - Parameter signature: SEQUENCE { r, s }.
    private static func p384(_ message: String, _ signature: String) -> SignatureCheck {
        guard let key = P384PublicKey(x963: hex("04" + rfc6979P384)) else {
            preconditionFailure("a published key is on its curve")
        }
        return .p384(key: key, digest: SHA256.hash(Array(message.utf8)), signature: hex(signature))
    }

    private static let rfc6979P256 =
        "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB67903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F51"
        + "77A3C294D4462299"
    private static let rfc6979P384 =
        "EC3A4E415B4E19A4568618029F427FA5DA9A8BC4AE92E02E06AAE5286B300C64DEF8F0EA9055866064A254515480BC138015D9B72D7D5724"
        + "4EA8EF9AC0C621896708A59367F9DFB9F54CA84B3F1C9DB1288B231C3AE0D4FE7344FD2533264720"
    private static let wycheproofP256 =
        "04AAEC73635726F213FB8A9E64DA3B8632E41495A944D0045B522EBA7240FAD587D9315798AAA3A5BA01775787CED05EAAF7B4E09FC81D6D"
        + "1AA546E8365D525D"

    private static func hex(_ text: String) -> [UInt8] {
        let digits = text.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x37 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
