import AppCheck
import DeviceLab
import Dispatch
import JSON
import Testing

@Suite struct HostileInputTests {
    @Test(arguments: Verb.allCases)
    func `a request cut at any byte, or with any byte overwritten, never traps`(_ verb: Verb) throws {
        let decoder = try Samples.wholeDecoder()
        let members = ExchangeRequestTests.members(verb)
        guard !members.isEmpty else { return }
        let value = Array(Samples.request(path: Samples.path(verb), body: Samples.body(members)).utf8)
        #expect(decoder.decode(value).request != nil)
        for place in value.indices {
            #expect(decoder.decode(Array(value[..<place])).deadLetter == .notJSON)
            for byte in [0, 0x22, 0x2C, 0x3A, 0x5C, 0x7B, 0x7D, 0x80, 0xFF] as [UInt8] where value[place] != byte {
                var damaged = value
                damaged[place] = byte
                // A token's other parts are not read yet, and another secret is refused later.
                let isStillRequest = decoder.decode(damaged).request != nil
                #expect(!isStillRequest || [.verifyAppCheckToken, .exchangeDebugToken].contains(verb))
            }
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `random bytes are never a request`(_ seed: UInt64) throws {
        let decoder = try Samples.decoder()
        var random = SeededRandom(seed: seed)
        let alphabet = Array("{}[]\":,\\u0aepathbody v1/".utf8)
        for length in 0..<200 {
            let raw = random.bytes(length)
            let likely = raw.map { alphabet[Int($0) % alphabet.count] }
            #expect(decoder.decode(raw).request == nil)
            #expect(decoder.decode(likely).request == nil)
        }
    }

    @Test func `a megabyte of nested arrays is too large; under a higher limit no path is read from it`() throws {
        let value = [UInt8](repeating: UInt8(ascii: "["), count: 1_048_576)
        #expect(try Samples.decoder().decode(value).deadLetter == .tooLarge)
        var limits = RequestLimits()
        limits.valueBytes = value.count
        #expect(try Samples.decoder(limits).decode(value).deadLetter == .noPath)
        let closed = value.dropLast(value.count / 2) + [UInt8](repeating: UInt8(ascii: "]"), count: value.count / 2)
        #expect(try Samples.decoder(limits).decode(Array(closed)).deadLetter == .noPath)
    }

    @Test(arguments: [
        "v1/projects/NAME:verifyAppCheckToken", "v1/projects/contract-test-1/apps/NAME:verifyAssertion",
        "v1/oauthClients/NAME:exchangeAppAttestAssertion", "v1/projects/p/apps/a:NAME",
    ])
    func `a name of thirty thousand combining marks is refused as any other`(path: String) throws {
        let decoder = try Samples.decoder()
        // Two kinds in turn, which Unicode wants sorted: FuzzLab measures what they cost.
        let name = "a" + String(repeating: "\u{301}\u{323}", count: 15_000)
        var text = path
        if let range = text.firstRange(of: "NAME") { text.replaceSubrange(range, with: name) }
        let value = Array(Samples.request(path: text, body: "{}").utf8)
        for _ in 0..<10 { #expect(decoder.decode(value).refusal != nil) }
    }

    /// All empty arrays have one storage; under ThreadSanitizer this test sees a write to it.
    @Test func `empty texts are coded on several threads at once without a write to what they share`() {
        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            for _ in 0..<100 {
                #expect(Base64.decode([]) == [])
                #expect(Base64.encode([]).isEmpty)
                #expect(Base64.encodeURL([]).isEmpty)
            }
        }
    }
}
