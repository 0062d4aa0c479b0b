internal import Foundation
internal import TestKit
internal import Testing

@testable internal import Lab

@Suite("refresh-receipts, the command")
struct RefreshCommandTests {
    private static func run(_ change: (String) throws -> Void) throws -> (code: Int32, error: String) {
        let folder = try SimulationFolder()
        let config = folder.path + "/config"
        try NewConfiguration.write(to: config)
        try change(config)
        let arguments = ["refresh-receipts", "--check", "--config", config, "--instance", "a"]
        let (code, transcript) = Transcript.run(arguments)
        return (code, transcript.error)
    }

    private static func replace(_ old: String, _ new: String, in path: String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try #require(text.contains(old), "\(path): \(text)")
        try text.replacing(old, with: new).write(toFile: path, atomically: true, encoding: .utf8)
    }

    @Test func `it needs a configuration, and knows its options`() {
        #expect(Transcript.run(["refresh-receipts"]).code == 2)
        let (code, transcript) = Transcript.run(["refresh-receipts", "--config", "/nowhere", "--once"])
        #expect(code == 2 && transcript.error.contains("--once"))
        #expect(Transcript.run(["refresh-receipts", "--config", "/nowhere"]).code == 2)
    }

    @Test func `without a topic for receipts there is nothing to do`() throws {
        let (code, error) = try Self.run { _ in }
        #expect(code == 2 && error.contains("topics.receipts"), "\(error)")
        #expect(error.split(separator: "\n").count == 1)
    }

    @Test func `an app whose receipts no key speaks for is refused in one line`() throws {
        let (code, error) = try Self.run { config in
            try Self.replace(
                #""requests": "#,
                #""receipts": "appattest.receipts", "requests": "#,
                in: config + "/worker.json"
            )
            try Self.replace(#""appId": "#, #""risk": {"mode": "report"}, "appId": "#, in: config + "/apps.json")
        }
        #expect(code == 2 && error.contains("risk.keys"), "\(error)")
        #expect(error.split(separator: "\n").count == 1, "\(error)")
    }
}
