import AppAttest
import AppCheck
import Pipeline
import Settings
import TestKit
import Testing

@Suite("A KEYS line's ban")
struct BannedKeyLineTests {
    private static var banned: ImportedKey {
        var key = KeySamples.key(1, counter: 5)
        key.bannedSince = 1_790_000_000
        return key
    }

    private static func line(_ key: ImportedKey) -> String { String(KeySamples.file([key]).dropLast()) }

    @Test func `a ban is the last member, and is read back`() throws {
        let text = Self.line(Self.banned)
        #expect(text.hasSuffix(#","banned":{"since":1790000000}}"#))
        #expect(try KeysFile.decode(Array(text.utf8)) == Self.banned)
        #expect(Self.banned.ban == Ban(.key, since: EvaluationTime(milliseconds: 1_790_000_000_000)))
        let free = Self.line(KeySamples.key(1, counter: 5))
        #expect(!free.contains("banned"))
        let absent = text.replacing(#"{"since":1790000000}"#, with: "null")
        #expect(try KeysFile.decode(Array(absent.utf8)).ban == nil)
    }

    @Test func `a ban's end is read back, and rounded up`() throws {
        var ending = Self.banned
        ending.bannedUntil = 1_800_000_000
        let text = Self.line(ending)
        #expect(text.hasSuffix(#","banned":{"since":1790000000,"until":1800000000}}"#))
        #expect(try KeysFile.decode(Array(text.utf8)) == ending)
        let end = EvaluationTime(milliseconds: 1_800_000_000_000)
        #expect(ending.ban == Ban(.key, since: EvaluationTime(milliseconds: 1_790_000_000_000), until: end))
        func written(_ milliseconds: Int64) -> Int64? {
            let ban = Ban(.key, since: end, until: EvaluationTime(milliseconds: milliseconds), offset: 7)
            return ImportedKey(ending.keyID, KeyTable.record(of: ending), ban: ban).bannedUntil
        }
        #expect(written(1_000) == 1 && written(1_001) == 2 && written(253_402_300_799_999) == 253_402_300_799)
    }

    @Test(
        arguments: [
            ("true", "banned is not a JSON object"), ("{}", "banned: since is not a time in seconds since 1970"),
            (#"{"since":-1}"#, "banned: since is not a time in seconds since 1970"),
            (#"{"since":253402300800}"#, "banned: since is not a time in seconds since 1970"),
            (#"{"since":"1"}"#, "banned: since is not a time in seconds since 1970"),
            (#"{"since":1,"until":"2"}"#, "banned: until is not a time in seconds since 1970"),
            (#"{"since":1,"until":253402300800}"#, "banned: until is not a time in seconds since 1970"),
            (#"{"since":1,"til":2}"#, "unknown member til"),
        ]
    )
    func `an invalid ban names its line`(value: String, reason: String) throws {
        let text = Self.line(Self.banned).replacing(#"{"since":1790000000}"#, with: value)
        #expect(throws: KeysFile.Fault(reason: reason)) { try KeysFile.decode(Array(text.utf8)) }
    }

    @Test func `a replay's table has the ban beside the key`() throws {
        let directory = try ConfigurationDirectory()
        try directory.write("KEYS", Self.line(Self.banned) + "\n" + Self.line(KeySamples.key(2, counter: 1)) + "\n")
        let ledger = try KeyTable.read(directory.path + "/KEYS").ledger
        #expect(ledger.keys.count == 2 && ledger.bans.count == 1)
        #expect(ledger.bans[BanID.key(Self.banned.keyID)] == Self.banned.ban)
    }
}
