import AppAttest
import AppCheck
import Testing

/// Limits of a request besides its bytes: everything that costs time has a small limit.
@Suite struct RequestSizeTests {
    private static func members(_ count: Int) -> String { (0..<count).map { "\"m\($0)\":0" }.joined(separator: ",") }

    private static func decoded(body: String) throws -> RequestDecoding {
        try Samples.decode(body: String(Samples.body(Samples.assertionBody).dropLast()) + body)
    }

    /// Path, body and the three members of an assertion are there already.
    @Test(arguments: [(19, true), (20, false), (5_000, false)])
    func `a request has 24 members at most`(count: Int, isFine: Bool) throws {
        let decoding = try Self.decoded(body: ",\(Self.members(count))}")
        #expect((decoding.request != nil) == isFine)
        #expect(decoding.refusal == (isFine ? nil : .malformedRequest))
        #expect(decoding.refusedPath == (isFine ? nil : Samples.path))
        let besideBody = String(Samples.request().dropLast()) + ",\(Self.members(count))}"
        #expect((try Samples.decoder().decode(besideBody).request != nil) == isFine)
    }

    @Test(arguments: [("a", 64, true), ("a", 65, false), ("\\u0061", 60, true), ("\\u0061", 66, false)])
    func `a member's name has 64 bytes at most, as written`(unit: String, bytes: Int, isFine: Bool) throws {
        let name = String(repeating: unit, count: bytes / unit.utf8.count)
        #expect((try Self.decoded(body: ",\"\(name)\":0}").request != nil) == isFine)
    }

    @Test(arguments: [(2, true), (3, false)])
    func `two names may have escapes`(count: Int, isFine: Bool) throws {
        let names = (0..<count).map { "\"\\u0061\($0)\":0" }.joined(separator: ",")
        #expect((try Self.decoded(body: ",\(names)}").request != nil) == isFine)
    }

    @Test(arguments: [(13, true), (14, true), (15, false)])
    func `values nest no deeper than 16`(depth: Int, isFine: Bool) throws {
        let value = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect((try Self.decoded(body: ",\"x\":\(value)}").request != nil) == isFine)
    }

    @Test func `a request of many values is refused under its path, and is not a request without a path`() throws {
        let zeros = Array(repeating: "0", count: 10_000).joined(separator: ",")
        let late = "{\"body\":{\"x\":[\(zeros)]},\"path\":\"\(Samples.path)\"}"
        #expect(try Self.decoded(body: ",\"x\":[\(zeros)]}").refusedPath == Samples.path)
        #expect(try Samples.decoder().decode(late).deadLetter == .noPath)
    }

    @Test(arguments: [(1_024, Reason.unknownApp), (1_025, .malformedRequest)])
    func `a path has 1,024 bytes at most`(count: Int, reason: Reason) throws {
        let frame = "v1/projects/p/apps/:verifyAssertion"
        let name = String(repeating: "a", count: count - frame.utf8.count)
        let path = "v1/projects/p/apps/\(name):verifyAssertion"
        let decoding = try Samples.decode(path: path)
        #expect(decoding.refusal == reason && decoding.refusedPath == (count > 1_024 ? "" : path))
    }

    @Test func `names are compared with their escapes resolved`() throws {
        let escaped = "k" + "\\u0065" + "yId"
        let twice = try Self.decoded(body: ",\"\(escaped)\":0}")
        #expect(twice.refusal == .malformedRequest)
        let body = Samples.body(Samples.assertionBody).replacing("keyId", with: escaped)
        #expect(try Samples.decode(body: body).request != nil)
        let longer = Samples.body(Samples.assertionBody).replacing("keyId", with: escaped + "x")
        #expect(try Samples.decode(body: longer).refusal == .malformedRequest)
    }

    @Test(arguments: [(0, false), (1, true), (31, true), (1_024, true), (1_025, false), (9_000, false)])
    func `a hash of any length has 1 to 1,024 bytes, however it is written`(count: Int, isFine: Bool) throws {
        let text = Samples.text([UInt8](repeating: 0xFF, count: count))
        for isEscaped in [false, true] {
            let written = isEscaped ? text.utf8.map { "\\u00" + String($0, radix: 16) }.joined() : text
            let members = Array(Samples.assertionBody.dropLast()) + [("clientDataHash", "\"\(written)\"")]
            let decoding = try Samples.decode(body: Samples.body(members))
            #expect((decoding.request != nil) == isFine)
        }
    }

    @Test(arguments: [".", "\\n", "\\u0061"])
    func `a token of dots, or of more escapes than any has, is not a token`(unit: String) throws {
        let token = String(repeating: unit, count: 60_000 / unit.utf8.count)
        let body = Samples.body([("appCheckToken", "\"\(token)\"")])
        #expect(try Samples.decode(path: Samples.path(.verifyAppCheckToken), body: body).refusal == .tokenInvalid)
    }
}
