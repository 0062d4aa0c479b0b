internal import AppAttest
internal import DeviceLab
internal import JSON
internal import Testing

@Suite("No call makes Apple's double trap")
struct LabAppleHostileTests {
    private static let later = AppleRig.later(AppleRig.hour)
    private static let receipt = AppleRig.attested(Lab.device(.ios27_0_1))

    private static var call: AppleCall { AppleRig.call(receipt, at: later) }

    @Test func `a receipt that is cut anywhere is refused`() throws {
        var rig = try AppleRig()
        #expect(rig.send(Self.receipt, at: Self.later).status == 200)
        for count in 0..<Self.receipt.count {
            #expect(rig.send(Array(Self.receipt.prefix(count)), at: Self.later).status == 400)
        }
    }

    @Test func `a body or a token that is cut anywhere, or has a megabyte more, is refused`() throws {
        var rig = try AppleRig()
        for count in stride(from: 0, to: Self.call.body.count, by: 7) {
            var call = Self.call
            call.body.removeLast(call.body.count - count)
            #expect(rig.apple.answer(call, at: Self.later).status == 400)
        }
        for count in 0..<Self.call.headers[0].value.count {
            var call = Self.call
            call.headers[0].value.removeLast(call.headers[0].value.count - count)
            #expect(rig.apple.answer(call, at: Self.later).status == 401)
        }
        let much = [UInt8](repeating: UInt8(ascii: "A"), count: 1 << 20)
        var (long, wordy) = (Self.call, Self.call)
        long.body = much
        wordy.headers[0].value += much
        #expect(rig.apple.answer(long, at: Self.later).status == 400)
        #expect(rig.apple.answer(wordy, at: Self.later).status == 401)
    }

    @Test(arguments: 0..<8)
    func `a receipt, a body or a token with a flipped bit is refused`(bit: Int) throws {
        var rig = try AppleRig()
        var random = SeededRandom(seed: UInt64(bit))
        for _ in 0..<150 {
            var receipt = Self.receipt
            receipt[Int.random(in: 0..<receipt.count, using: &random)] ^= 1 << bit
            #expect(rig.send(receipt, at: Self.later).status == 400)
            var call = Self.call
            call.body[Int.random(in: 0..<call.body.count, using: &random)] ^= 1 << bit
            #expect(rig.apple.answer(call, at: Self.later).status == 400)
        }
        for place in Self.call.headers[0].value.indices {
            var call = Self.call
            call.headers[0].value[place] ^= 1 << bit
            #expect(rig.apple.answer(call, at: Self.later).status == 401)
        }
    }

    @Test func `random bytes in every place are refused`() throws {
        var rig = try AppleRig()
        var random = SeededRandom(seed: 9)
        for round in 0..<2_000 {
            var call = Self.call
            let bytes = random.bytes(Int.random(in: 0...300, using: &random))
            switch round % 6 {
            case 0: call.body = bytes
            case 1: call.body = Base64.encode(bytes)
            case 2: call.headers[0].value = bytes
            case 3: call.headers[0].value = Base64.encodeURL(bytes) + [0x2E] + Base64.encodeURL(bytes) + [0x2E]
            case 4: call.target = bytes
            default: call.method = bytes
            }
            #expect((400...499).contains(rig.apple.answer(call, at: Self.later).status))
        }
    }

    @Test(arguments: [
        #"{}"#, "[]", "null", "1", #""x""#, "{", #"{"alg":"ES256"}"#, #"{"alg":256,"kid":"K1"}"#,
        #"{"alg":"ES256","kid":null}"#, String(repeating: "[", count: 2_000),
    ])
    func `a token whose header is another JSON text is refused`(header: String) throws {
        var rig = try AppleRig()
        var token = AppleRig.Token(at: Self.later)
        token.header = header
        let call = AppleRig.call(Self.receipt, at: Self.later, token: token)
        #expect(rig.apple.answer(call, at: Self.later).status == 401)
    }
}
