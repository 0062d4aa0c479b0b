import AppAttest
import Crypto
import Pipeline
import Settings
import TestKit
import Testing

private let key32 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
private let required =
    #""keyId":"\#(key32)","publicKey":"BA==","appleAppId":"T.b","environment":"production","counter":7"#

private let skippedProblem =
    "skippedCounters has one that is not from 1 to 64 below counter, or not above 0"

private let unseenProblem = "unseenCounters is not an integer from 1 to 64, or 255"

private func decode(_ line: String) throws(KeysFile.Fault) -> ImportedKey { try KeysFile.decode(Array(line.utf8)) }

@Suite struct ConfigurationKeysFileTests {
    private let digest = Digest((0..<32).map { UInt8($0) })

    @Test func `a line with only the required members is read`() throws {
        let key = try decode("{\(required)}")
        let keyID = try #require(digest.map { KeyID($0) })
        #expect(
            key
                == ImportedKey(
                    keyID: keyID,
                    publicKeyBytes: [4],
                    appleAppID: "T.b",
                    environment: .production,
                    counter: 7
                )
        )
        #expect(try decode(#"{\#(required),"app":null,"nonce":null,"lastRequest":null}"#) == key)
    }

    @Test(arguments: [0, 1, UInt32.max])
    func `every field survives a round trip`(_ counter: UInt32) throws {
        let digest = try #require(digest)
        var key = ImportedKey(
            keyID: KeyID(digest),
            publicKeyBytes: [4] + [UInt8](repeating: 0xFF, count: 64),
            appleAppID: "T.\"é\"",
            environment: .development,
            counter: counter
        )
        var lines = 0
        var output: [UInt8] = []
        let requests: [ImportedKey.LastRequest?] = [
            nil, .init(id: "r\n", valueSHA256: digest, verdict: "accepted"),
            .init(id: "r", valueSHA256: digest, verdict: "accepted", issuedAt: 1_700_000_000, expiresAt: .max),
        ]
        for request in requests {
            for app in [nil, "projects/1/apps/1:1:ios:a"] {
                for nonce in [nil, digest] {
                    (key.lastRequest, key.app, key.nonce) = (request, app, nonce)
                    let start = output.count
                    KeysFile.encode(key, into: &output)
                    lines += 1
                    #expect(output.last == 0x0A)
                    #expect(try KeysFile.decode(Array(output[start..<(output.count - 1)])) == key)
                }
            }
        }
        #expect(output.count { $0 == 0x0A } == lines)
    }

    @Test(
        arguments: [
            ([], 0, 9), ([1], 0, 2), ([36, 98, 99], 0, 100), (Array(136...199), 0, 200), ([5], 1, 7), ([5], 64, 7),
            ([5], 255, 7),
        ] as [([UInt32], UInt8, UInt32)]
    )
    func `skipped and unseen counters are the last members, are read back, and a replay judges by them`(
        skipped: [UInt32],
        unseen: UInt8,
        counter: UInt32
    ) throws {
        var key = try decode("{\(required)}")
        (key.counter, key.skippedCounters, key.unseenCounters) = (counter, skipped, unseen)
        key.lastRequest = .init(id: "r", valueSHA256: key.keyID.digest, verdict: "accepted")
        let text = KeySamples.file([key])
        #expect(try decode(String(text.dropLast())) == key)
        let list = skipped.isEmpty ? "" : ",\"skippedCounters\":[\(skipped.map(String.init).joined(separator: ","))]"
        let end = list + (unseen == 0 ? "" : ",\"unseenCounters\":\(unseen)")
        #expect(text.hasSuffix("\"accepted\"}\(end)}\n"))
        let record = KeyTable.record(of: key)
        #expect(record.counters == KeyCounters(highest: counter, skipped: skipped, unseen: unseen))
        let written = ImportedKey(key.keyID, record)
        #expect(written.skippedCounters == skipped && written.unseenCounters == unseen)
    }

    @Test func `a second line takes no app, point or last request from the first`() throws {
        var (earlier, later) = (try decode("{\(required)}"), try decode("{\(required)}"))
        (earlier.app, earlier.counter) = ("projects/1/apps/a", 9)
        earlier.lastRequest = .init(id: "newer", valueSHA256: earlier.keyID.digest, verdict: "accepted")
        later.lastRequest = .init(id: "older", valueSHA256: earlier.keyID.digest, verdict: "accepted")
        let point = P256PublicKey(uncheckedX: earlier.keyID.digest, y: earlier.keyID.digest)
        var known = KeyTable.record(of: earlier)
        known.publicKey = point
        let record = KeyTable.record(of: later, after: known)
        #expect(record.app == "projects/1/apps/a" && record.lastRequest?.id == "newer" && record.counter == 9)
        #expect(record.publicKey == point && record.unusableKey.isEmpty)
    }

    /// In seconds; nil = no end.
    @Test(arguments: [(nil, 20, nil), (20, nil, nil), (20, 30, 30), (30, 20, 30)] as [(Int64?, Int64?, Int64?)])
    func `of two lines' bans the one that lasts longer counts, since the earlier`(
        first: Int64?,
        second: Int64?,
        longer: Int64?
    ) throws {
        for (since, other) in [(1, 2), (2, 1)] as [(Int64, Int64)] {
            let lines = [(since, first), (other, second)].map { since, until in
                let end = until.map { ",\"until\":\($0)" } ?? ""
                return "{\(required),\"banned\":{\"since\":\(since)\(end)}}\n"
            }
            let directory = try ConfigurationDirectory()
            try directory.write("KEYS", lines.joined())
            let ledger = try KeyTable.read(directory.path + "/KEYS").ledger
            #expect(ledger.bans.count == 1)
            let expected = longer.map { EvaluationTime(seconds: $0) }
            #expect(ledger.bans.values.first == Ban(.key, since: EvaluationTime(seconds: 1), until: expected))
        }
    }

    @Test func `a last use is read and written, and of two the later one counts`() throws {
        var (earlier, later) = (try decode("{\(required)}"), try decode("{\(required),\"lastUse\":1790000000}"))
        #expect(later.lastUse == 1_790_000_000 && KeySamples.file([later]).hasSuffix(",\"lastUse\":1790000000}\n"))
        #expect(ImportedKey(later.keyID, KeyTable.record(of: later)).lastUse == 1_790_000_000)
        earlier.lastUse = 1_800_000_000
        for lines in [[earlier, later], [later, earlier]] {
            let record = KeyTable.record(of: lines[1], after: KeyTable.record(of: lines[0]))
            #expect(record.lastUse == 1_800_000_000)
        }
    }

    @Test func `of two lines for one key what either has used is used`() throws {
        var (earlier, later) = (try decode("{\(required)}"), try decode("{\(required)}"))
        (earlier.counter, earlier.skippedCounters) = (9, [4, 6, 8])
        (later.counter, later.skippedCounters) = (7, [4, 5])
        let record = KeyTable.record(of: later, after: KeyTable.record(of: earlier))
        #expect(record.counters == KeyCounters(highest: 9, skipped: [4, 8]))
    }

    @Test func `a line is written in the documented order`() throws {
        #expect(try KeySamples.file([decode("{\(required)}")]) == "{\(required)}\n")
    }

    @Test(
        arguments: [
            "": "invalid JSON at byte 0", "[]": "the line is not a JSON object", "{}": "keyId is missing",
            "{\(required)": "invalid JSON at byte 132",
            "{\(required),\"counter\":7}": "the line has two members with the same name",
            "{\(required),\"App\":\"x\"}": "unknown member App",
            "{\(required),\"app\":{\"app\":\"x\"}}": "app is not a non-empty string",
            "{\(required),\"nonce\":\"AA==\"}": "nonce does not have 32 bytes",
            "{\(required),\"nonce\":1}": "nonce is not base64",
            "{\(required),\"lastRequest\":[]}": "lastRequest is not a JSON object",
            "{\(required),\"lastRequest\":{}}": "lastRequest: id is missing",
            #"{\#(required),"lastRequest":{"id":"a","valueSha256":"\#(key32)"}}"#: "lastRequest: verdict is missing",
            #"{\#(required),"lastRequest":{"id":"a","verdict":"accepted"}}"#: "lastRequest: valueSha256 is missing",
            #"{\#(required),"lastRequest":{"id":"a","valueSha256":"\#(key32)","verdict":"accepted","iat":-1}}"#:
                "lastRequest: iat is not an integer >= 0",
            #"{\#(required),"lastRequest":{"id":"a","valueSha256":"\#(key32)","verdict":"accepted","expires":1}}"#:
                "unknown member expires",
            "{\(required),\"skippedCounters\":5}": "skippedCounters is not an array",
            "{\(required),\"skippedCounters\":[7]}": skippedProblem,
            "{\(required),\"skippedCounters\":[0]}": skippedProblem,
            "{\(required),\"skippedCounters\":[-1]}": skippedProblem,
            "{\(required),\"skippedCounters\":[\"5\"]}": skippedProblem,
            "{\(required),\"lastUse\":0}": "lastUse is not a time in seconds since 1970",
            "{\(required),\"lastUse\":4294967296}": "lastUse is not a time in seconds since 1970",
            "{\(required),\"unseenCounters\":0}": unseenProblem,
            "{\(required),\"unseenCounters\":65}": unseenProblem,
            "{\(required),\"unseenCounters\":256}": unseenProblem,
            "{\(required),\"unseenCounters\":[1]}": unseenProblem,
        ] as [String: String]
    )
    func `an unreadable line is reported with its reason`(_ line: String, _ reason: String) {
        #expect(throws: KeysFile.Fault(reason: reason)) { _ = try decode(line) }
    }

    @Test(arguments: ["keyId", "publicKey", "appleAppId", "environment", "counter"])
    func `a required member that is missing or of a wrong type is refused`(_ name: String) throws {
        let all = [
            ("keyId", "\"\(key32)\""), ("publicKey", "\"BA==\""), ("appleAppId", "\"T.b\""),
            ("environment", "\"production\""), ("counter", "7"),
        ]
        func line(_ members: [(String, String)]) -> String {
            "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
        }
        _ = try decode(line(all))
        #expect(throws: KeysFile.Fault.self) { _ = try decode(line(all.filter { $0.0 != name })) }
        for value in ["null", "true", "-1", "4294967296", "1.5", "\"\\u0000*\"", "[]", "{}", "{\"\(name)\":\"BA==\"}"] {
            let isText = name == "appleAppId" && value.hasPrefix("\"")
            let members = all.map { $0.0 == name ? (name, value) : $0 }
            #expect(((try? decode(line(members))) != nil) == isText, "\(value)")
        }
    }

    @Test func `a file is read line by line, and a fault names its line`() throws {
        let directory = try ConfigurationDirectory()
        try directory.write("KEYS", "{\(required)}\n\n{\(required),\"app\":\"x\"}\n")
        var keys: [ImportedKey] = []
        try KeysFile.read(directory.path + "/KEYS") { key, _ in keys.append(key) }
        #expect(keys.map(\.app) == [nil, "x"])
        try directory.write("KEYS", "{\(required)}\n\n{\"keyId\":1}\n")
        let fault = #expect(throws: CommandFault.self) { try KeysFile.read(directory.path + "/KEYS") { _, _ in } }
        #expect(fault?.sentence == directory.path + "/KEYS: line 3: keyId is not base64; fix or remove the line.")
        #expect(throws: CommandFault.self) { try KeysFile.read(directory.path + "/none") { _, _ in } }
    }
}
