import AppAttest
import AppCheck
import Testing

@Suite struct RequestBodyTests {
    private func refusal(_ members: [(String, String)]) throws -> Reason? {
        try Samples.decode(body: Samples.body(members)).refusal
    }

    @Test(arguments: ["null", "[]", "\"{}\"", "1", "true"])
    func `a body that is not an object is malformed`(_ body: String) throws {
        #expect(try Samples.decode(body: body).refusal == .malformedRequest)
        let none = "{\"path\":\"\(Samples.path)\"}"
        #expect(try Samples.decoder().decode(none).refusal == .malformedRequest)
    }

    @Test(arguments: ["clientData", "client_data", "key_id"])
    func `a member of null counts as absent`(_ name: String) throws {
        #expect(try refusal(Samples.assertionBody + [(name, "null")]) == nil)
        #expect(try refusal(Samples.assertionBody + [(name, "null"), (name, "null")]) == .malformedRequest)
    }

    @Test(arguments: [0, 1, 31, 32, 33, 64])
    func `a key ID has 32 bytes, no fewer and no more`(_ count: Int) throws {
        var members = Samples.assertionBody
        members[0].1 = "\"\(Samples.text([UInt8](repeating: 7, count: count)))\""
        let decoding = try Samples.decode(body: Samples.body(members))
        #expect((decoding.request != nil) == (count == 32))
        #expect(decoding.refusal == (count == 32 ? nil : .malformedRequest))
        #expect(decoding.refusedKeyID == nil)
    }

    @Test(
        arguments: [ClientDataHashLength.standard, .bytes(32), .bytes(21), .bytes(1024)],
        [Samples.path, Samples.attestationPath]
    )
    func `a client data hash has the length that the app sets, 32 bytes by default`(
        _ length: ClientDataHashLength,
        _ path: String
    ) throws {
        guard case .bytes(let said) = length else { return }
        #expect(length != .standard || said == 32)
        let decoder = try Samples.decoder(RequestLimits(), length)
        func refusal(_ name: String, _ count: Int) -> Reason? {
            let object = path == Samples.path ? "assertion" : "attestationStatement"
            let bytes = Samples.text([UInt8](repeating: 7, count: count))
            let members = [Samples.assertionBody[0], (object, "\"AQID\""), (name, "\"\(bytes)\"")]
            return decoder.decode(Samples.request(path: path, body: Samples.body(members))).refusal
        }
        #expect(refusal("clientDataHash", said) == nil)
        for count in [0, said - 1, said + 1, said + 65] {
            #expect(refusal("client_data_hash", count) == .malformedRequest)
            // Client data becomes a hash here, whatever its length.
            #expect(refusal("clientData", count) == nil)
        }
    }

    @Test(arguments: [(0, true), (32_768, true), (32_769, false)])
    func `client data has at most 32,768 bytes`(_ count: Int, _ isTaken: Bool) throws {
        var members = Samples.assertionBody
        members[2] = ("clientData", "\"\(Samples.text([UInt8](repeating: 7, count: count)))\"")
        #expect(try refusal(members) == (isTaken ? nil : .malformedRequest))
    }

    @Test func `limits come from the configuration`() throws {
        var limits = RequestLimits()
        limits.clientDataHashBytes = 2
        #expect(try Samples.decoder(limits).decode(Samples.request()).refusal == .malformedRequest)
        limits.clientDataHashBytes = 3
        #expect(try Samples.decoder(limits).decode(Samples.request()).request != nil)
        limits.valueBytes = Samples.request().utf8.count - 1
        #expect(try Samples.decoder(limits).decode(Samples.request()).deadLetter == .tooLarge)
    }

    @Test func `a refusal names the key if the body names exactly one`() throws {
        let key = Samples.assertionBody[0]
        let decoder = try Samples.decoder()
        func keyID(_ body: String) -> KeyID? { decoder.decode(Samples.request(body: body)).refusedKeyID }
        #expect(keyID(Samples.body([key])) == Samples.keyID)
        #expect(keyID(Samples.body([("key_id", key.1)])) == Samples.keyID)
        #expect(keyID(Samples.body([key, ("key_id", key.1)])) == nil)
        #expect(keyID(Samples.body([key, key])) == nil)
        #expect(keyID("[]") == nil)
        #expect(Samples.keyID != nil)
    }
}
