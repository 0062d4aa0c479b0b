internal import AppCheck
internal import Crypto
internal import Foundation
internal import TestKit
internal import Testing

@testable internal import Settings

@Suite("Key files")
struct KeyFileTests {
    private static let signing = #""signingKeys":[{"kid":"k1","algorithm":"RS256","file":"k.pem"}]"#
    private static let signingES = #""signingKeys":[{"kid":"k1","algorithm":"ES256","file":"k.pem"}]"#
    private static let sealing = #""sealingKeys":[{"id":"s1","file":"s.key"}]"#
    private static let challenges = #""challenges":{"keys":[{"id":"c1","file":"c.key"}]}"#

    @Test func `keys of every kind are read into rings; the first of a list is active`() throws {
        let directory = try KeyDirectory(
            """
            "signingKeys":[{"kid":"r","algorithm":"RS256","file":"r.pem","state":"published"},
                           {"kid":"e","algorithm":"ES256","file":"e.pem"}],
            "sealingKeys":[{"id":"s1","file":"s1"},{"id":"s2","file":"s2"}],
            "challenges":{"keys":[{"id":"c1","file":"c1"}]}
            """
        )
        try directory.write("r.pem", KeyText.rsa)
        try directory.write("e.pem", KeyText.p256)
        try directory.write("s1", KeyText.secret(1))
        // Without the line break, and with another system's one.
        try directory.write("s2", String(KeyText.secret(2).dropLast()), mode: 0o400)
        try directory.write("c1", KeyText.secret(3).dropLast() + "\r\n")
        let keys = try directory.load().keys
        #expect(keys.rings.tokens["r"]?.state == .published)
        #expect(keys.rings.tokens.active(.es256)?.kid == "e")
        #expect(keys.rings.tokens.active(.rs256) == nil)
        #expect(keys.rings.sealing.active?.id == SealingKeyID(of: "s1"))
        #expect(keys.rings.sealing[SealingKeyID(of: "s2")] != nil)
        #expect(keys.rings.challenges.active?.id == SealingKeyID(of: "c1"))
        #expect(keys.sealing.map(\.secret.count) == [32, 32])
        let age = timeOfDay() - (keys.signingFilesModifiedAt["e"] ?? 0)
        #expect((0..<3_600_000).contains(age))
    }

    @Test func `a configuration without keys makes a worker that only verifies`() throws {
        let loaded = try KeyDirectory().load()
        #expect(loaded.keys.rings.tokens.keys.isEmpty)
        #expect(loaded.warnings(now: 0) == [])
    }

    @Test(
        arguments: [
            (signing, .p256, "is a P-256 key, but its algorithm is RS256; set ES256, or name another file"),
            (signingES, .rsa, "is an RSA key, but its algorithm is ES256; set RS256, or name another file"),
            (signing, .rsa1024, "is an RSA key of 1024 bits; the minimum is 2048"),
            (signingES, .p384, "is neither an RSA key nor a P-256 key"),
            (signingES, .encrypted, "is not an unencrypted private key in PEM"),
            (signing, .secret, "is not an unencrypted private key in PEM"),
            (signing, .empty, "is not an unencrypted private key in PEM"),
        ] as [(String, KeyContent, String)]
    )
    func `a signing key of the wrong kind is refused by name`(list: String, content: KeyContent, problem: String) throws
    {
        let directory = try KeyDirectory(list)
        try directory.write("k.pem", content.text)
        let fault = try #require(directory.fault())
        #expect(fault.hasPrefix("worker.json: signing key k1: DIR/k.pem \(problem)"), "\(fault)")
        #expect(!fault.contains("\n"))
    }

    @Test(
        arguments: [(sealing, "s.key", "sealing key s1"), (challenges, "c.key", "challenge key c1")],
        [
            (.empty, "has 0 bytes; a"), (.p256, "is PEM; a"), (.rsa1024, "is PEM; a"),
            (.raw, "is not base64; a"), (.blankLine, "is not base64; a"), (.twoSecrets, "is not base64; a"),
        ] as [(KeyContent, String)]
    )
    func `a sealing or challenge key that is not base64 of 32 bytes is refused by name`(
        list: (members: String, file: String, name: String),
        content: (KeyContent, String)
    ) throws {
        let directory = try KeyDirectory(list.members)
        try directory.write(list.file, content.0.text)
        let fault = try #require(directory.fault())
        #expect(fault.hasPrefix("worker.json: \(list.name): DIR/\(list.file) \(content.1)"), "\(fault)")
        #expect(fault.hasSuffix("a symmetric key is 32 random bytes as base64 text on one line."))
    }

    @Test(arguments: [1, 16, 31, 32, 33, 64])
    func `a symmetric key has 32 bytes, no more and no fewer`(count: Int) throws {
        let directory = try KeyDirectory(Self.sealing)
        try directory.write("s.key", KeyText.secret(7, count: count))
        let expected = "worker.json: sealing key s1: DIR/s.key has \(count) bytes; a symmetric key is 32 random bytes"
        #expect(directory.fault()?.hasPrefix(expected) == (count == 32 ? nil : true))
    }

    @Test(
        arguments: [0o604, 0o644, 0o601, 0o602, 0o777],
        [(signing, "k.pem", "signing key k1"), (sealing, "s.key", "sealing key s1")]
    )
    func `a key file that others may access is refused with its mode, one of its owner alone is not`(
        mode: Int,
        list: (members: String, file: String, name: String)
    ) throws {
        let directory = try KeyDirectory(list.members)
        let content = list.file == "k.pem" ? KeyText.rsa : KeyText.secret(1)
        try directory.write(list.file, content, mode: mode)
        let octal = String(mode, radix: 8)
        let path = "DIR/\(list.file)"
        #expect(
            directory.fault()
                == "worker.json: \(list.name): \(path) is open to others (mode \(octal)); change it: chmod 600 \(path)."
        )
        try directory.write(list.file, content, mode: 0o600)
        #expect(directory.fault() == nil)
    }

    @Test func `a missing key file, or one that is not a regular file, is refused by name`() throws {
        let directory = try KeyDirectory(Self.sealing)
        #expect(
            directory.fault()
                == "worker.json: sealing key s1: DIR/s.key is missing; fix the path, or make keys with attest-worker new-keys."
        )
        try FileManager.default.createDirectory(atPath: "\(directory.path)/s.key", withIntermediateDirectories: true)
        #expect(directory.fault() == "worker.json: sealing key s1: DIR/s.key is not a regular file.")
        try FileManager.default.removeItem(atPath: "\(directory.path)/s.key")
        // A pipe without a writer would block a process that opens it as a file.
        let made = unsafe mkfifo("\(directory.path)/s.key", 0o600)
        #expect(made == 0)
        #expect(directory.fault() == "worker.json: sealing key s1: DIR/s.key is not a regular file.")
    }

    @Test func `one key under two names is refused`() throws {
        let seals = try KeyDirectory(#""sealingKeys":[{"id":"s1","file":"a"},{"id":"s2","file":"b"}]"#)
        try seals.write("a", KeyText.secret(1))
        try seals.write("b", KeyText.secret(1))
        #expect(seals.fault() == "worker.json: sealing key s2: DIR/b is key s1 again; make a fresh one.")
        let signs = try KeyDirectory(
            #""signingKeys":[{"kid":"k1","file":"k.pem"},{"kid":"k2","file":"k.pem","state":"published"}]"#
        )
        try signs.write("k.pem", KeyText.rsa)
        #expect(
            signs.fault()
                == "worker.json: signing key k2: DIR/k.pem is key k1 again; give each kid its own key."
        )
    }

    @Test func `if any key exists, a warning names each key that exchanges lack`() throws {
        let directory = try KeyDirectory(Self.sealing, app: #""tokenAlgorithm":"ES256""#)
        try directory.write("s.key", KeyText.secret(1))
        #expect(
            try directory.load().warnings(now: 0) == [
                "no ES256 signing key is active: the exchanges of projects/1/apps/a are deferred",
                "worker.json lists no challenge key: challenges and exchanges are deferred",
            ]
        )
        #expect(try KeyDirectory.complete().load().warnings(now: 0) == [])
    }
}
