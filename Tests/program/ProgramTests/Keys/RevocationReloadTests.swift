internal import AppCheck
internal import JSON
internal import Settings
internal import TestKit
internal import Testing

@Suite("Revoked keys in worker.json")
struct RevokedKeyFileTests {
    private static func entry(_ kid: String, _ state: String, file: String = "k.pem") -> String {
        #"{"kid":"\#(kid)","algorithm":"ES256","file":"\#(file)","state":"\#(state)"}"#
    }

    private static func list(_ entries: String...) -> String { #""signingKeys":[\#(entries.joined(separator: ","))]"# }

    @Test func `a revoked key is in no ring and no key set, and its file is not needed`() throws {
        let directory = try KeyDirectory(
            Self.list(Self.entry("old", "revoked", file: "gone.pem"), Self.entry("new", "active"))
        )
        try directory.write("k.pem", KeyText.p256)
        let tokens = try directory.load().keys.rings.tokens
        #expect(tokens.keys.map(\.kid) == ["new"] && tokens.isRevoked("old") && !tokens.isRevoked("new"))
        let set = try Transcript.done(["jwks", "--config", directory.path]).json["keys"]
        #expect(set?.elements.map { $0["kid"]?.string } == ["new"])
    }

    @Test func `with every key revoked the key set is empty; without any key there is no key set`() throws {
        let directory = try KeyDirectory(Self.list(Self.entry("old", "revoked")))
        let (code, output, _) = directory.run("jwks")
        #expect(code == 0 && output == "{\"keys\":[]}\n")
        #expect(try KeyDirectory().run("jwks").code == 2)
    }

    @Test func `a revoked key under another kid is refused`() throws {
        let directory = try KeyDirectory(Self.list(Self.entry("old", "revoked"), Self.entry("new", "active")))
        try directory.write("k.pem", KeyText.p256)
        #expect(
            directory.fault()
                == "worker.json: signing key old: DIR/k.pem is revoked, but key new is the same key; make another."
        )
    }

    @Test func `removing an active key from its list is refused, and the message names the remedy`() throws {
        let directory = try KeyDirectory(Self.list(Self.entry("a", "active")))
        try directory.write("k.pem", KeyText.p256)
        let running = try directory.load()
        try directory.files.write("worker.json", ConfigurationDirectory.worker(Self.list()))
        let fault = #expect(throws: ConfigurationFault.self) {
            try Reload(ConfigurationFiles(directory: directory.path), after: running)
        }
        #expect(fault?.message.contains(#"or set "state": "revoked""#) == true)
    }
}
