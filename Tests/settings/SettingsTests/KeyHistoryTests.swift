internal import AppCheck
internal import Foundation
internal import TestKit
internal import Testing

@testable internal import Settings

@Suite("Keys that a reload must keep")
struct KeyHistoryTests {
    private static let lists = [
        #""signingKeys": [{"kid": "a", "algorithm": "ES256", "file": "a.pem"},"#
            + #"{"kid": "p", "algorithm": "ES256", "file": "p.pem", "state": "published"}]"#,
        #""sealingKeys": [{"id": "s1", "file": "s1"}, {"id": "s2", "file": "s2"}]"#,
        #""challenges": {"keys": [{"id": "c1", "file": "c1"}, {"id": "c2", "file": "c2"}]}"#,
    ]

    private func directory() throws -> KeyDirectory {
        let directory = try KeyDirectory(Self.lists.joined(separator: ","))
        try directory.write("a.pem", KeyText.p256)
        for name in ["p.pem", "other.pem"] {
            let key = try FreshKeys([.signing], algorithms: [.es256], beside: nil)
            try key.write(to: directory.path)
            let file = try #require(key.files.first)
            try FileManager.default.moveItem(atPath: "\(directory.path)/\(file)", toPath: "\(directory.path)/\(name)")
        }
        for (index, name) in ["s1", "s2", "c1", "c2", "other"].enumerated() {
            try directory.write(name, KeyText.secret(UInt8(index)))
        }
        return directory
    }

    @Test(
        arguments: [
            "signing key a was active: keep it published":
                (#"{"kid": "a", "algorithm": "ES256", "file": "a.pem"},"#, ""),
            "sealing key s2 was removed: artifacts sealed with it need it for years":
                (#", {"id": "s2", "file": "s2"}"#, ""),
            "sealing key s1 was removed": (#"{"id": "s1", "file": "s1"}, "#, ""),
            "challenge key c1 was the first: keep it after the new one": (#"{"id": "c1", "file": "c1"}, "#, ""),
            "signing key a is now a different key: give the new one its own kid": (#""a.pem""#, #""other.pem""#),
            "signing key p is now a different key": (#""p.pem""#, #""other.pem""#),
            "sealing key s2 is now a different key: give the new one": (#""file": "s2""#, #""file": "other""#),
            "challenge key c2 is now a different key": (#""file": "c2""#, #""file": "other""#),
        ]
    )
    func `removing a key that live tokens, artifacts or challenges need is refused by name`(
        problem: String,
        edit: (old: String, new: String)
    ) throws {
        let directory = try directory()
        let running = try directory.load()
        try directory.files.write("worker.json", directory.text("worker.json").replacing(edit.old, with: edit.new))
        let loaded = try directory.load()
        let fault = #expect(throws: ConfigurationFault.self) { try KeyHistory.check(loaded.keys, after: running.keys) }
        #expect(fault?.message.hasPrefix("worker.json: \(problem)") == true, "\(fault?.message ?? "")")
    }

    @Test(
        arguments: [
            (#",{"kid": "p", "algorithm": "ES256", "file": "p.pem", "state": "published"}"#, ""),
            (#""file": "a.pem"},"#, #""file": "a.pem", "state": "revoked"},"#),
            (#""file": "a.pem"},"#, #""file": "gone.pem", "state": "revoked"},"#),
            (#", {"id": "c2", "file": "c2"}"#, ""),
            (
                #""file": "a.pem"},{"kid": "p", "algorithm": "ES256", "file": "p.pem", "state": "published"}"#,
                #""file": "a.pem", "state": "published"},{"kid": "p", "algorithm": "ES256", "file": "p.pem"}"#
            ),
            (
                #"{"id": "s1", "file": "s1"}, {"id": "s2", "file": "s2"}"#,
                #"{"id": "s2", "file": "s2"}, {"id": "s1", "file": "s1"}"#
            ),
        ]
    )
    func `keys that nothing needs may be removed, and lists may be reordered`(old: String, new: String) throws {
        let directory = try directory()
        let running = try directory.load()
        let text = try directory.text("worker.json").replacing(old, with: new)
        #expect(try text != directory.text("worker.json"))
        try directory.files.write("worker.json", text)
        try KeyHistory.check(directory.load().keys, after: running.keys)
    }

    @Test func `an active key younger than 7 h causes a warning only if it replaced an older one`() throws {
        let directory = try directory()
        for (file, hours) in [("p.pem", 100.0), ("a.pem", 1)] { try directory.age(file, hours: hours) }
        let keys = try directory.load().keys
        let made = try #require(keys.signingFilesModifiedAt["a"])
        let hour: Int64 = 3_600_000
        #expect(
            PublicationRule.warnings(keys, now: made + 2 * hour + 600_000) == [
                "signing key a is active, and is only 2 h 10 min old; publish a key 7 h before it becomes "
                    + "active, because verifiers keep key sets for up to 6 h"
            ]
        )
        #expect(PublicationRule.warnings(keys, now: made + 7 * hour - 1).count == 1)
        #expect(PublicationRule.warnings(keys, now: made + 7 * hour) == [])
        // The published one is the newcomer.
        try directory.age("p.pem", hours: 0.5)
        #expect(try PublicationRule.warnings(directory.load().keys, now: made) == [])
        let alone = try KeyDirectory(#""signingKeys":[{"kid":"a","algorithm":"ES256","file":"a.pem"}]"#)
        try alone.write("a.pem", KeyText.p256)
        #expect(PublicationRule.warnings(try alone.load().keys, now: made) == [])
    }

    @Test func `a running worker knows which keys it has published, for how long, and which were active before`() throws
    {
        let directory = try directory()
        try directory.age("p.pem", hours: 100)
        let keys = try directory.load().keys
        let made = try #require(keys.signingFilesModifiedAt["a"])
        let hour: Int64 = 3_600_000
        func count(_ known: [String: Int64], active: Set<String> = ["p"], at now: Int64) -> Int {
            PublicationRule.warnings(keys, memory: .init(known: known, active: active), now: now).count
        }
        // A copy is younger than its key.
        #expect(count(["a": made - 8 * hour], at: made) == 0)
        #expect(count(["a": made - 6 * hour], at: made) == 1)
        #expect(count(["a": made - 6 * hour], active: ["a"], at: made) == 0)
        // An old file says nothing where the set never held the key.
        #expect(count(["p": made], at: made + 100 * hour) == 1)
        #expect(count(["p": made, "a": made], at: made + 100 * hour) == 0)
    }
}
