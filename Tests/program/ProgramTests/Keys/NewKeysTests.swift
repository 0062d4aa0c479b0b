internal import AppCheck
internal import Crypto
internal import Foundation
internal import JSON
internal import Pipeline
internal import TestKit
internal import Testing

@testable internal import Settings

@Suite("new-keys")
struct NewKeysTests {
    private let directory: KeyDirectory
    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.file("keys")).sorted() }
    }

    init() throws { directory = try KeyDirectory() }

    @Test func `each key gets a file that only its owner may read, and worker.json does not change`() throws {
        let before = try directory.text("worker.json")
        let (code, output, error) = directory.run("new-keys")
        #expect(code == 0 && error.isEmpty)
        #expect(try directory.text("worker.json") == before)
        let files = try files
        #expect(files.map { $0.prefix { $0 != "-" } } == ["challenge", "sealing", "signing"])
        #expect(try directory.mode("keys") == 0o700)
        for file in files {
            #expect(try directory.mode("keys/\(file)") == 0o600)
            #expect(output.contains("keys/\(file)"))
        }
        #expect(output.contains(#"signingKeys: {"kid": "#) && output.contains(#""state": "active"}"#))
        #expect(output.contains("after 7 h, active"))
    }

    @Test func `the printed lists load when pasted into worker.json`() throws {
        let output = directory.run("new-keys").output
        func entry(_ list: String) throws -> Substring {
            let line = try #require(output.split(separator: "\n").first { $0.contains("  \(list): ") })
            return line[try #require(line.firstIndex(of: "{"))...]
        }
        let lists = """
            "signingKeys":[\(try entry("signingKeys"))],"sealingKeys":[\(try entry("sealingKeys"))],
            "challenges":{"keys":[\(try entry("challenges.keys"))]}
            """
        try directory.files.write("worker.json", ConfigurationDirectory.worker(lists))
        let keys = try directory.load().keys
        #expect(keys.rings.tokens.keys.count == 1 && keys.sealing.count == 1 && keys.challenges.count == 1)
    }

    @Test(arguments: ["RS256", "ES256"])
    func `a kid is the first four bytes of the key's RFC 7638 thumbprint`(algorithm: String) throws {
        #expect(directory.run("new-keys", "--add", "--only", "signing", "--algorithm", algorithm).code == 0)
        let key = try #require(try directory.load().keys.rings.tokens.keys.first)
        let set = try Transcript.done(["jwks", "--config", directory.path]).json
        let jwk = try #require(set["keys"]?.elements.first)
        func text(_ name: StaticString) throws -> String { try #require(jwk[name]?.string) }
        let members =
            try algorithm == "RS256"
            ? #"{"e":"\#(text("e"))","kty":"RSA","n":"\#(text("n"))"}"#
            : #"{"crv":"P-256","kty":"EC","x":"\#(text("x"))","y":"\#(text("y"))"}"#
        let bytes = try #require(Base64.decode(Array(key.kid.utf8)))
        #expect(bytes == Array(SHA256.hash(Array(members.utf8)).bytes.prefix(4)))
        #expect(key.kid.count == 6 && !key.kid.hasPrefix("-"))
    }

    @Test func `--add lists the keys and keeps everything else; a second key is published and last`() throws {
        let directory = try KeyDirectory(#""lanes":3,"clock":{"maxAge":"12h"},"challenges":{"ttl":"60s"}"#)
        #expect(directory.run("new-keys", "--add").code == 0)
        let first = try directory.load()
        #expect(first.configuration.signingKeys.map(\.state) == [.active])
        #expect(directory.run("new-keys", "--add").code == 0)
        let second = try directory.load()
        #expect(second.configuration.lanes == 3)
        #expect(second.configuration.clock.maxAgeMilliseconds == 12 * 3_600_000)
        #expect(second.configuration.challenges.ttlMilliseconds == 60_000)
        #expect(second.configuration.signingKeys.map(\.state) == [.active, .published])
        #expect(second.configuration.signingKeys.first == first.configuration.signingKeys.first)
        #expect(second.configuration.sealingKeys.first == first.configuration.sealingKeys.first)
        #expect(second.configuration.challengeKeys.first == first.configuration.challengeKeys.first)
        #expect(second.configuration.sealingKeys.count == 2 && second.configuration.challengeKeys.count == 2)
        let ids = second.configuration.sealingKeys.map(\.id) + second.configuration.signingKeys.map(\.kid)
        #expect(Set(ids).count == 4)
    }

    @Test func `signing keys are made for the apps' algorithms, unless an option names others`() throws {
        let directory = try KeyDirectory.complete(app: #""tokenAlgorithm":"ES256""#)
        #expect(try directory.load().configuration.signingKeys.map(\.algorithm) == [.es256])
        #expect(directory.run("new-keys", "--add", "--only", "signing", "--algorithm", "RS256").code == 0)
        let signing = try directory.load().configuration.signingKeys
        #expect(signing.map(\.algorithm) == [.es256, .rs256])
        #expect(signing.map(\.state) == [.active, .active], "each is the only one of its algorithm")
    }

    @Test(arguments: [nil, 2048, 3072] as [Int?])
    func `RSA keys have 2048 bits, or more on request`(bits: Int?) throws {
        let asked = bits.map { ["--rsa-bits=\($0)"] } ?? []
        try Transcript.done(["new-keys", "--config", directory.path, "--add", "--only", "signing"] + asked)
        let key = try #require(try directory.load().keys.rings.tokens.active(.rs256))
        #expect(key.key.signatureBytes == (bits ?? 2048) / 8)
    }

    @Test func `a revoked key cannot be activated, and stays revoked when another is activated`() throws {
        let directory = try KeyDirectory.complete()
        #expect(directory.run("new-keys", "--add", "--only", "signing").code == 0)
        let before = try directory.load().configuration.signingKeys
        try directory.edit("worker.json", #""active""#, #""revoked""#)
        let (code, _, error) = directory.run("new-keys", "--activate", before[0].kid)
        #expect(code == 2 && error.contains("is revoked: make a new one"))
        #expect(directory.run("new-keys", "--activate", before[1].kid).code == 0)
        #expect(try directory.load().configuration.signingKeys.map(\.state) == [.revoked, .active])
        // A new key is active immediately if no other one is.
        try directory.edit("worker.json", #""active""#, #""revoked""#)
        #expect(directory.run("new-keys", "--add", "--only", "signing").code == 0)
        #expect(try directory.load().configuration.signingKeys.map(\.state) == [.revoked, .revoked, .active])
    }

    @Test func `if the gateway makes the challenges, no challenge key is made`() throws {
        let directory = try KeyDirectory(#""challenges":{"mode":"external"}"#)
        #expect(directory.run("new-keys", "--add").code == 0)
        #expect(try directory.load().configuration.challengeKeys.isEmpty)
    }

    @Test func `--activate moves a sealing or challenge key to the head of its list, and removes none`() throws {
        let directory = try KeyDirectory.complete()
        #expect(directory.run("new-keys", "--add", "--only", "sealing,challenge").code == 0)
        let before = try directory.load().configuration
        #expect(directory.run("new-keys", "--activate", before.sealingKeys[1].id).code == 0)
        #expect(directory.run("new-keys", "--activate=\(before.challengeKeys[1].id)").code == 0)
        let after = try directory.load().configuration
        #expect(after.sealingKeys == before.sealingKeys.reversed())
        #expect(after.challengeKeys == before.challengeKeys.reversed())
        #expect(after.signingKeys == before.signingKeys)
    }

    @Test
    func `--activate makes a signing key active after 7 h, or sooner if forced; the previous one stays published`()
        throws
    {
        let directory = try KeyDirectory.complete()
        #expect(directory.run("new-keys", "--add", "--only", "signing").code == 0)
        let before = try directory.load().configuration.signingKeys
        let (code, output, error) = directory.run("new-keys", "--activate", before[1].kid)
        #expect(code == 1 && output.isEmpty)
        #expect(error.contains("is only 0 min old: wait 7 h 0 min") || error.contains("wait 6 h 59 min"), "\(error)")
        #expect(try directory.load().configuration.signingKeys == before)
        let file = "keys/signing-\(before[1].kid).pem"
        try directory.age(file, hours: 6.9)
        #expect(directory.run("new-keys", "--activate", before[1].kid).code == 1)
        try directory.age(file, hours: 7.1)
        #expect(directory.run("new-keys", "--activate", before[1].kid).code == 0)
        #expect(try directory.load().configuration.signingKeys.map(\.state) == [.published, .active])
        try directory.age("keys/signing-\(before[0].kid).pem", hours: 0)
        #expect(directory.run("new-keys", "--activate", before[0].kid, "--early").code == 0)
        #expect(try directory.load().configuration.signingKeys == before)
    }

    @Test func `an existing file is never overwritten, and then no other key is left behind`() throws {
        let fresh = try FreshKeys(algorithms: [.es256], beside: nil)
        let last = try #require(fresh.files.last)
        try FileManager.default.createDirectory(atPath: directory.file("keys"), withIntermediateDirectories: true)
        try directory.write(last, "precious")
        #expect(throws: CommandFault("\(directory.path)/\(last) already exists and is not overwritten.")) {
            try fresh.write(to: directory.path)
        }
        #expect(try directory.text(last) == "precious")
        #expect(try files.count == 1)
        // Nor is what a link points to.
        try FileManager.default.removeItem(atPath: directory.file(last))
        try FileManager.default.createSymbolicLink(
            atPath: directory.file(last),
            withDestinationPath: directory.file("elsewhere")
        )
        #expect(throws: CommandFault.self) { try fresh.write(to: directory.path) }
        #expect(!FileManager.default.fileExists(atPath: directory.file("elsewhere")))
    }

    @Test func `the mode is 600 whatever the process's umask is`() throws {
        try NewFile.create(directory.file("a"), [1])
        #expect(try directory.mode("a") == 0o600)
        try NewFile.create(directory.file("b"), [1], mode: 0o666)
        #expect(try directory.mode("b") == 0o666, "no mask takes anything away")
    }

    @Test func `replacing a file keeps its mode and leaves nothing else behind`() throws {
        try directory.write("target", "old", mode: 0o640)
        let count = try FileManager.default.contentsOfDirectory(atPath: directory.path).count
        try NewFile.replace(directory.file("target"), Array("new".utf8))
        #expect(try directory.text("target") == "new")
        #expect(try directory.mode("target") == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == count)
        #expect(throws: CommandFault.self) { try NewFile.replace(directory.file("none/target"), []) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `root's replacement of another user's file stays that user's`() throws {
        let directory = try ConfigurationDirectory()
        let path = directory.path + "/worker.json"
        try FileManager.default.setAttributes(
            [.ownerAccountID: 65_534, .groupOwnerAccountID: 65_533, .posixPermissions: 0o640],
            ofItemAtPath: path
        )
        try NewFile.replace(path, Array("new".utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.ownerAccountID] as? Int == 65_534 && attributes[.groupOwnerAccountID] as? Int == 65_533)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    @Test func `a rewritten worker.json is the same JSON, whatever its content`() throws {
        let texts = [
            #"{"a":[],"b":{},"c":[1,-2.50,1e3,true,false,null,"x\"\\\u0001/ü"],"long":{"k":["#
                + (0..<40).map { "\"\($0)\"" }.joined(separator: ",") + "]}}",
            "{}", #"{"one":1}"#,
        ]
        for text in texts {
            let root = JSONTree(try JSONDocument(parsing: Array(text.utf8)).root)
            #expect(JSONTree(try JSONDocument(parsing: Array(root.file.utf8)).root) == root)
            let squeezed = root.line.replacing(", ", with: ",").replacing(": ", with: ":")
            #expect(squeezed.hasPrefix(text.prefix(16)))
        }
    }
}
