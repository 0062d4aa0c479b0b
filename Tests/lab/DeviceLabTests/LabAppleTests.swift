internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import JSON
internal import Testing

/// Each check of Apple's double: a call that is right, and the same call with one fault.
@Suite("Apple's double judges each call")
struct LabAppleTests {
    private static let device = Lab.device(.ios27_0_1)
    private static let receipt = AppleRig.attested(device)
    private static let later = AppleRig.later(AppleRig.hour)

    @Test(
        arguments: [DeviceShape.ios14_0, .ios17_5, .ios27_0_1, .macos27_0, .receiptInDER],
        ["", "Bearer ", "bearer  "]
    )
    func `an ATTEST receipt is exchanged, and so is each receipt that it gives`(
        shape: DeviceShape,
        scheme: String
    ) throws {
        let device = Lab.device(shape)
        var rig = try AppleRig()
        var receipt = AppleRig.attested(device)
        for round in 0..<4 {
            let now = AppleRig.later(AppleRig.hour + Int64(round) * AppleRig.day)
            var call = AppleRig.call(receipt, at: now)
            call.headers[0].value = Array(scheme.utf8) + call.headers[0].value
            let answer = rig.apple.answer(call, at: now)
            #expect(answer.status == 200 && answer.fault == nil)
            #expect(answer.headers.contains { $0.name == "Content-Type" && $0.value == "base64" })
            receipt = try #require(Base64.decode(answer.body))
            #expect(try Lab.verifier().receipt(receipt, of: device, at: now).refusal == nil)
            #expect(ReceiptContent(unverified: receipt)?.riskMetric == "1")
        }
        #expect(rig.apple.account.calls == 4 && rig.apple.account.statuses == [200: 4])
    }

    /// A call with one fault, and what it gets.
    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let refusal: AppleRefusal
        let edit: @Sendable (inout AppleCall) throws -> Void

        init(_ name: String, _ refusal: AppleRefusal, _ edit: @escaping @Sendable (inout AppleCall) throws -> Void) {
            (testDescription, self.refusal, self.edit) = (name, refusal, edit)
        }

        static func token(
            _ name: String,
            _ refusal: AppleRefusal,
            _ edit: @escaping @Sendable (inout AppleRig.Token) -> Void
        ) -> Self {
            Self(name, refusal) { call in
                var token = AppleRig.Token(at: LabAppleTests.later)
                edit(&token)
                call.headers[0].value = token.text
            }
        }
    }

    private static let faults: [Fault] = [
        Fault("another path", .noSuchPath) { $0.target += Array("s".utf8) },
        Fault("GET", .method) { $0.method = Array("GET".utf8) },
        Fault("no token", .tokenMissing) { $0.headers = [] },
        Fault("an empty token", .tokenMissing) { $0.headers[0].value = [] },
        Fault("two tokens", .tokenMissing) { $0.headers.append($0.headers[0]) },
        Fault("another scheme", .tokenMalformed) { $0.headers[0].value = Array("Basic ".utf8) + $0.headers[0].value },
        Fault("two parts", .tokenMalformed) { call in
            call.headers[0].value.removeLast(call.headers[0].value.reversed().prefix { $0 != 0x2E }.count + 1)
        },
        Fault("a fourth part", .tokenMalformed) { $0.headers[0].value += Array(".e30".utf8) },
        Fault("a padded part", .tokenMalformed) { $0.headers[0].value += Array("==".utf8) },
        .token("another algorithm", .tokenMalformed) { $0.header = #"{"alg":"ES384","kid":"K1"}"# },
        .token("no signature's algorithm", .tokenMalformed) { $0.header = #"{"alg":"none","kid":"K1"}"# },
        .token("a header twice", .tokenMalformed) { $0.header = #"{"alg":"ES256","kid":"K1","kid":"K1"}"# },
        .token("a time in quotes", .tokenMalformed) { $0.issued = "\"\($0.issued)\"" },
        .token("a key that is not listed", .tokenUnknownKey) { $0.header = #"{"alg":"ES256","kid":"K2"}"# },
        .token("no key", .tokenUnknownKey) { $0.header = #"{"alg":"ES256"}"# },
        .token("another key's signature", .tokenSignature) { $0.signer = AppleRig.signer("K2") },
        .token("another issuer", .tokenOtherIssuer) { $0.issuer = "ABCDE12346" },
        .token("an old token", .tokenExpired) { $0.issued = String(later.milliseconds / 1_000 - 3_600) },
        .token("a token of tomorrow", .tokenExpired) { $0.issued = String(later.milliseconds / 1_000 + 3_601) },
        .token("a time beyond all", .tokenExpired) { $0.issued = String(Int64.max) },
        Fault("raw bytes", .badPayload) { $0.body = receipt },
        Fault("no body", .badPayload) { $0.body = [] },
        Fault("a line end", .badPayload) { $0.body += [0x0A] },
        Fault("the URL-safe alphabet", .badPayload) { $0.body = Base64.encodeURL(receipt) },
        Fault("Base64 twice", .badPayload) { $0.body = Base64.encode($0.body) },
        Fault("two receipts", .badPayload) { $0.body = Base64.encode(receipt + receipt) },
        Fault("another authority's receipt", .badPayload) {
            $0.body = Base64.encode(AppleRig.attested(Lab.device(.ios27_0_1, ca: LabCA(seed: 2))))
        },
        Fault("a receipt of tomorrow", .badPayload) {
            $0.body = Base64.encode(AppleRig.attested(device, at: AppleRig.later(AppleRig.day)))
        },
        Fault("another team's receipt", .tokenOtherTeam) {
            let other = FakeDevice(ca: Lab.ca, appID: "ABCDE12346.com.example.app", seed: 7)
            $0.body = Base64.encode(AppleRig.attested(other))
        },
        Fault("the other environment's receipt", .incorrectEnvironment) {
            $0.body = Base64.encode(AppleRig.attested(Lab.device(.ios27_0_1, environment: .development)))
        },
    ]

    @Test(arguments: faults)
    func `a call with one fault is refused for it`(fault: Fault) throws {
        var rig = try AppleRig()
        var call = AppleRig.call(Self.receipt, at: Self.later)
        #expect(rig.apple.answer(call, at: Self.later).status == 200)
        try fault.edit(&call)
        var answer = rig.apple.answer(call, at: Self.later)
        #expect(answer.headers.last?.name == "X-B3-TraceId")
        answer.headers.removeLast()
        #expect(answer == fault.refusal.answer, "\(String(decoding: answer.body, as: UTF8.self))")
    }

    @Test func `Apple's own texts are said for a bad payload and another environment`() {
        #expect(AppleRefusal.badPayload.answer.body == Array("Bad Payload".utf8))
        #expect(AppleRefusal.incorrectEnvironment.answer.body == Array("Incorrect Environment".utf8))
        let statuses = AppleRefusal.allCases.map(\.answer.status)
        #expect(statuses == [404, 405, 401, 401, 401, 401, 401, 401, 400, 401, 400, 404, 404, 304])
    }

    @Test(arguments: ReceiptFault.allCases.filter { $0.applies(to: .attest, isAlone: true) })
    func `a faulty receipt is a bad payload, and one whose fault is its owner or its age is judged as such`(
        fault: ReceiptFault
    ) throws {
        var rig = try AppleRig()
        let receipt = Self.device.receipt(.attest, clientDataHash: Lab.clientDataHash, at: Lab.noon, fault: fault)
        // The client data hash, which key a device has, and which of the two types a receipt has, are not asked here.
        let expected: [ReceiptRefusal: Int] = [.environment: 400, .appID: 401, .expired: 404]
        let answer = rig.send(receipt, at: Lab.noon)
        let isOthers = [.keyMismatch, .clientHash, .tooOld].contains(fault.expected) || fault.name == "other-type"
        #expect(answer.status == (isOthers ? 200 : expected[fault.expected] ?? 400), "\(fault.name)")
    }

    @Test(arguments: [(-3_600, 200), (-3_601, 401), (3_600, 200), (3_601, 401)] as [(Int64, Int)])
    func `a token counts within an hour of now`(seconds: Int64, status: Int) throws {
        var rig = try AppleRig()
        let now = EvaluationTime(milliseconds: Self.later.milliseconds / 1_000 * 1_000)
        var token = AppleRig.Token(at: now)
        token.issued = String(now.milliseconds / 1_000 + seconds)
        #expect(rig.apple.answer(AppleRig.call(Self.receipt, at: now, token: token), at: now).status == status)
    }

    @Test(arguments: [(nil, 401), (["ABCDE12345"], 401), (["OLDPREFIX1", "ABCDE12345"], 200)] as [([String]?, Int)])
    func `a key opens the receipts of its App ID prefixes`(prefixes: [String]?, status: Int) throws {
        let key = try AppleRig.key(prefixes: prefixes)
        var rig = try AppleRig { $0.keys = [key] }
        let device = FakeDevice(ca: Lab.ca, appID: "OLDPREFIX1.com.example.app", seed: 7)
        #expect(rig.send(AppleRig.attested(device), at: Self.later).status == status)
    }

    @Test(arguments: Environment.allCases)
    func `receipts of one environment are taken in it alone`(environment: Environment) throws {
        for other in Environment.allCases {
            var rig = try AppleRig { $0.environment = other }
            let receipt = AppleRig.attested(Lab.device(.ios27_0_1, environment: environment))
            #expect(rig.send(receipt, at: Self.later).status == (environment == other ? 200 : 400))
        }
    }

    @Test func `a query behind the path is ignored`() throws {
        var rig = try AppleRig()
        var call = AppleRig.call(Self.receipt, at: Self.later)
        call.target += Array("?x=1".utf8)
        #expect(rig.apple.answer(call, at: Self.later).status == 200)
    }
}
