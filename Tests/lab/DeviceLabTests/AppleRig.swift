internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import JSON
internal import Testing

/// A double of Apple's with one team's key, and calls to it that are right in all parts.
struct AppleRig {
    static let team = "ABCDE12345"
    static let (day, hour): (Int64, Int64) = (86_400_000, 3_600_000)

    var apple: LabApple

    init(_ ca: LabCA = Lab.ca, edit: (inout LabApple.Settings) -> Void = { _ in }) throws {
        var settings = LabApple.Settings(keys: [try Self.key()])
        edit(&settings)
        apple = LabApple(ca, settings)
    }

    static func signer(_ kid: String) -> LabKey { LabKey(.p256, seed: Array("device check \(kid)".utf8)) }

    static func key(_ kid: String = "K1", team: String = team, prefixes: [String]? = nil) throws -> DeviceCheckKey {
        let point = try #require(P256PublicKey(x963: signer(kid).x963))
        let publicKey = try #require(VerificationKey(.p256(point)))
        return DeviceCheckKey(team: team, kid: kid, publicKey: publicKey, appIDPrefixes: prefixes)
    }

    static func later(_ milliseconds: Int64) -> EvaluationTime {
        EvaluationTime(milliseconds: Lab.noon.milliseconds + milliseconds)
    }

    /// A token's parts, each of which can be made wrong.
    struct Token {
        var header = #"{"alg":"ES256","kid":"K1"}"#
        var issuer = AppleRig.team
        var issued: String
        var signer = AppleRig.signer("K1")

        init(at time: EvaluationTime) { issued = String(time.milliseconds / 1_000) }

        var text: [UInt8] {
            let claims = #"{"iss":"\#(issuer)","iat":\#(issued)}"#
            let signed = Base64.encodeURL(Array(header.utf8)) + [0x2E] + Base64.encodeURL(Array(claims.utf8))
            let signature = signer.sign(digest: SHA256.hash(signed).bytes)
            return signed + [0x2E] + Base64.encodeURL(signature.r + signature.s)
        }
    }

    static func call(_ receipt: [UInt8], at time: EvaluationTime, token: Token? = nil) -> AppleCall {
        AppleCall(
            method: Array("POST".utf8),
            target: Array(LabApple.path.utf8),
            headers: [(name: Array("authorization".utf8), value: (token ?? Token(at: time)).text)],
            body: Base64.encode(receipt)
        )
    }

    static func attested(_ device: FakeDevice, at time: EvaluationTime = Lab.noon) -> [UInt8] {
        device.receipt(.attest, clientDataHash: Lab.clientDataHash, at: time)
    }

    /// Sends a receipt with a fresh token.
    mutating func send(_ receipt: [UInt8], at time: EvaluationTime) -> AppleAnswer {
        apple.answer(Self.call(receipt, at: time), at: time)
    }

    /// The receipt that is given for one; fails the test where there is none.
    mutating func exchange(_ receipt: [UInt8], at time: EvaluationTime) throws -> [UInt8] {
        let answer = send(receipt, at: time)
        try #require(answer.status == 200, "\(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
        return try #require(Base64.decode(answer.body))
    }

    mutating func metric(_ receipt: [UInt8], at time: EvaluationTime) throws -> String? {
        try #require(ReceiptContent(unverified: exchange(receipt, at: time))).riskMetric?.shown
    }
}
