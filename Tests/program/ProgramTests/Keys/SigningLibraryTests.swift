import Crypto
import Foundation
import Streams
import TestKit
import Testing

/// `engine.signingLibrary` as an operator meets it.
@Suite("The signing library", .waiting)
struct SigningLibraryTests {
    /// Where it may be loaded: not below a folder that anyone may write.
    private static let realPath = ProcessInfo.processInfo.environment["CRYPTO_MB"].flatMap { path in
        (try? MultiBufferLibrary(path: path)).map { _ in path }
    }

    /// Replays what was minted before, with a library named in worker.json.
    private static func replay(_ minted: MintedTokens, _ library: String) throws -> (code: Int32, error: String) {
        let text = try minted.folder.text("config/worker.json")
        let engine = #"{"engine":{"signingLibrary":"\#(library)"},"#
        try minted.folder.write(engine + text.dropFirst(), to: "config/worker.json")
        defer { try? minted.folder.write(text, to: "config/worker.json") }
        let (code, _, error) = minted.folder.replay(["--mint", "--lanes", "1"], output: "again")
        return (code, error)
    }

    @Test func `a path that names no library ends the start with 2 and one line`() throws {
        let minted = try MintedTokens(devices: 1, records: 2)
        let text = minted.folder.file("capture.ndjson")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: text)
        // A file of root's that is no library, and one that lies where anyone may put another.
        let cases = [
            ("/nowhere/libcrypto_mb.so", "does not exist"), ("/etc/passwd", "cannot be loaded"),
            (text, "lies in \(FileManager.default.temporaryDirectory.path), which others than its owner can write"),
        ]
        for (path, problem) in cases {
            let (code, error) = try Self.replay(minted, path)
            #expect(code == 2)
            #expect(error.hasPrefix("attest-worker: engine.signingLibrary: \(path) \(problem)"), "\(error)")
            #expect(error.split(separator: "\n").count == 1, "\(error)")
        }
    }

    @Test(.enabled(if: realPath != nil, "CRYPTO_MB names no libcrypto_mb in a folder that only root may write"))
    func `a capture gives the same RS256 tokens with the real library, and ES256 the same claims`() throws {
        let minted = try MintedTokens(devices: 24, records: 400)
        let (code, error) = try Self.replay(minted, try #require(Self.realPath))
        try #require(code == 0, "\(error)")
        #expect(!error.contains("libcrypto_mb"), "\(error)")
        func tokens(_ folder: String) throws -> [String] {
            let records = try minted.folder.captured(folder + "/tokens.ndjson")
            return records.map { String(decoding: $0.value ?? [], as: UTF8.self) }
        }
        let (before, after) = (try tokens("out"), try tokens("again"))
        #expect(before.count == after.count && before.count > 200)
        var (equal, others) = (0, 0)
        for (old, new) in zip(before, after) {
            if old == new { equal += 1 } else { others += 1 }
            // Header and claims, before the signature.
            #expect(old.split(separator: ".").prefix(2) == new.split(separator: ".").prefix(2))
        }
        #expect(equal > 50 && others > 20, "\(equal) equal, \(others) of ES256")
    }
}
