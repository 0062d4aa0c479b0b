import AppAttest
import AppCheck
import Crypto
import TestKit
import Testing

/// Commands of an operator among requests: whose code is genuine, and what every other one is.
@Suite("An operator's commands")
struct OperatorRequestTests {
    private static let keyID = KeyID(SHA256.hash([7]))
    private static let installation = BanID.installation("fid-1")

    private static func decoder(_ keys: KeyRings) throws -> RequestDecoder {
        RequestDecoder(registry: try Samples.registry(), limits: RequestLimits(), operatorKeys: OperatorKeys(keys))
    }

    private static var commands: [OperatorCommand] {
        var keeping = OperatorCommand.sample(.forget, .key(keyID))
        keeping.keepsBan = true
        return [
            .sample(.ban, .key(keyID)), .sample(.unban, .key(keyID)), .sample(.forget, .key(keyID)), keeping,
            .sample(.ban, .key(keyID), on: 5), .sample(.ban, .installation(installation), on: 0),
            .sample(.unban, .installation(installation), on: 41),
            .sample(.ban, .key(keyID), until: ExchangeKit.start + 1),
            .sample(.ban, .installation(installation), on: 0, until: 253_402_300_799_999),
        ]
    }

    @Test(arguments: commands)
    func `a command is read back as it was written`(command: OperatorCommand) throws {
        let keys = try ExchangeKit.keys()
        let value = try ExchangeRequest.command(command, keys).value
        guard case .command(let found, let path) = try Self.decoder(keys).decode(value) else {
            Issue.record("no command")
            return
        }
        #expect(found.command == command)
        #expect(path.shown == "v1/operator:\(command.action.rawValue)")
        let slashed = String(decoding: value, as: UTF8.self).replacing(#""v1/op"#, with: #""/v1/op"#)
        guard case .command = try Self.decoder(keys).decode(Array(slashed.utf8)) else {
            Issue.record("no command with a slash in front")
            return
        }
    }

    @Test func `no two commands have the same code`() throws {
        let key = try #require(OperatorKeys(try ExchangeKit.keys()).active)
        let first = try #require(Self.commands.first)
        var others: [OperatorCommand] = [first]
        for verb in OperatorCommand.Action.allCases where verb != first.action {
            others.append(.sample(verb, first.subject))
        }
        others += Self.commands.dropFirst(3)
        others += [
            .sample(.ban, .key(KeyID(SHA256.hash([8])))), .sample(.ban, first.subject, at: ExchangeKit.start + 1),
            .sample(.ban, first.subject, seed: 1), .sample(.ban, first.subject, on: 0),
            .sample(.ban, .installation(Self.keyID.digest)),
            .sample(.ban, first.subject, until: ExchangeKit.start + 2),
        ]
        #expect(Set(others.map { key.code($0).bytes }).count == others.count)
    }

    /// Changes one member of the text of a genuine command.
    private static let changes: [(name: String, from: String, to: String)] = [
        ("another verb", "operator:ban", "operator:unban"), ("another key ID", #""keyId":"yj"#, #""keyId":"yk"#),
        ("an installation in place of a key", #""keyId""#, #""installation""#),
        ("another time", "000250", "000251"), ("a partition", #""issuedAt""#, #""partition":0,"issuedAt""#),
        ("a partition that is none", #""issuedAt""#, #""partition":-1,"issuedAt""#),
        ("a ban that is kept", #""issuedAt""#, #""keepBan":true,"issuedAt""#),
        ("an end", #""issuedAt""#, #""until":4102444800000,"issuedAt""#),
        ("an end that is null", #""issuedAt""#, #""until":null,"issuedAt""#),
        ("no code", #""code""#, #""kode""#), ("no nonce", #""nonce""#, #""once""#),
        ("a short nonce", #""nonce":""#, #""nonce":"AA==","x":""#), ("no key", #""key""#, #""kee""#),
        ("a key twice", #""key""#, #""key":"AAAAAA==","key""#), ("two bodies", #""body""#, #""body":1,"body""#),
        ("two members of one name", #""body""#, #""x":1,"x":1,"body""#),
        ("a body that is a list", #""body":{"#, #""body":[{"#),
    ]

    @Test(arguments: changes.map(\.name))
    func `a command with one thing changed is an unknown method`(name: String) throws {
        let change = try #require(Self.changes.first { $0.name == name })
        let keys = try ExchangeKit.keys()
        let value = try ExchangeRequest.command(.sample(.ban, .key(Self.keyID)), keys).value
        var text = String(decoding: value, as: UTF8.self)
        #expect(text.contains(change.from), "\(text)")
        text = text.replacing(change.from, with: change.to, maxReplacements: 1)
        if change.to.hasSuffix("[{") { text = String(text.dropLast()) + "]}" }
        let decoding = try Self.decoder(keys).decode(text)
        #expect(decoding.refusal == .unknownMethod, "\(text)")
        #expect(Reason.unknownMethod.status(appID: nil).message == "App not registered.")
    }

    /// Else a copy without its end, or one that an earlier version reads, would be another command.
    @Test(arguments: [("\"until\"", "\"til\""), ("00251", "00252")])
    func `a ban's end is a part of what the code covers`(from: String, to: String) throws {
        let keys = try ExchangeKit.keys()
        let ends = OperatorCommand.sample(.ban, .key(Self.keyID), until: ExchangeKit.start + 1)
        let text = String(decoding: try ExchangeRequest.command(ends, keys).value, as: UTF8.self)
        #expect(text.contains(from), "\(text)")
        let changed = text.replacing(from, with: to, maxReplacements: 1)
        #expect(try Self.decoder(keys).decode(changed).refusal == .unknownMethod)
    }

    @Test func `each bit of the code counts`() throws {
        let keys = try ExchangeKit.keys()
        let decoder = try Self.decoder(keys)
        let command = OperatorCommand.sample(.ban, .key(Self.keyID))
        let key = try #require(OperatorKeys(keys).active)
        let text = String(decoding: OperatorRequest.value(command, key), as: UTF8.self)
        let code = key.code(command).bytes
        for bit in 0..<256 {
            let changed = text.replacing(Samples.text(code), with: Samples.text(flipping(bit, of: code)))
            #expect(changed != text)
            #expect(decoder.decode(changed).refusal == .unknownMethod)
        }
    }

    @Test func `a command that no writer makes is refused, genuine or not`() throws {
        let keys = try ExchangeKit.keys()
        var unbanKeeping = OperatorCommand.sample(.unban, .key(Self.keyID))
        unbanKeeping.keepsBan = true
        for command in [
            unbanKeeping, .sample(.forget, .installation(Self.installation), on: 1),
            .sample(.ban, .installation(Self.installation)),
            .sample(.unban, .key(Self.keyID), until: ExchangeKit.start + 1),
            .sample(.forget, .key(Self.keyID), until: ExchangeKit.start + 1),
            .sample(.ban, .key(Self.keyID), until: ExchangeKit.start), .sample(.ban, .key(Self.keyID), until: -1),
            .sample(.ban, .key(Self.keyID), until: 253_402_300_800_000),
            .sample(.ban, .key(Self.keyID), at: .max, until: .min),
        ] {
            let value = try ExchangeRequest.command(command, keys).value
            #expect(try Self.decoder(keys).decode(value).refusal == .unknownMethod)
        }
    }

    @Test func `sealing keys authenticate, all of them; challenge keys only where none is listed`() throws {
        let command = OperatorCommand.sample(.ban, .key(Self.keyID))
        func outcome(_ signing: KeyRings, _ reading: KeyRings) throws -> Reason? {
            try Self.decoder(reading).decode(try ExchangeRequest.command(command, signing).value).refusal
        }
        let both = try ExchangeKit.keys(sealing: [1], challenges: [2])
        let challengesOnly = try ExchangeKit.keys(sealing: [], challenges: [2])
        #expect(try outcome(both, ExchangeKit.keys(sealing: [5, 1])) == nil, "an older key of the ring")
        #expect(try outcome(both, ExchangeKit.keys(sealing: [5])) == .unknownMethod)
        #expect(try outcome(challengesOnly, challengesOnly) == nil)
        #expect(try outcome(challengesOnly, both) == .unknownMethod, "a gateway may hold the challenge keys")
        #expect(try outcome(both, ExchangeKit.keys(sealing: [], challenges: [])) == .unknownMethod)
        #expect(OperatorKeys(try ExchangeKit.keys(sealing: [], challenges: [])).active == nil)
        // The two kinds of keys never have a code in common, even if one secret is listed as both.
        let absent = try SecretRing<SealingKey>([], absent: ["key-1"])
        #expect(try outcome(both, KeyRings(sealing: absent)) == .noActiveKey, "its file is absent")
    }

    @Test func `other paths of that kind stay malformed`() throws {
        for path in [
            "v1/operator:bann", "v1beta/operator:ban", "v1/operator", "v1/operator/x:ban", "//v1/operator:ban",
        ] {
            let decoding = try Self.decoder(ExchangeKit.keys()).decode(Samples.request(path: path, body: "{}"))
            #expect(decoding.refusal == .malformedRequest)
        }
    }
}
