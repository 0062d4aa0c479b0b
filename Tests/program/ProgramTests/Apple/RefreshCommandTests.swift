internal import Foundation
internal import TestKit
internal import Testing

@Suite("refresh-receipts, the command")
struct RefreshCommandTests {
    private static func run(_ change: (SimulationFolder) throws -> Void) throws -> (code: Int32, error: String) {
        let folder = try SimulationFolder.configured()
        try change(folder)
        let arguments = ["refresh-receipts", "--check", "--config", folder.config, "--instance", "a"]
        let (code, transcript) = Transcript.run(arguments)
        #expect(transcript.error.split(separator: "\n").count == 1, "\(transcript.error)")
        return (code, transcript.error)
    }

    @Test func `without a topic for receipts there is nothing to do`() throws {
        let (code, error) = try Self.run { _ in }
        #expect(code == 2 && error.contains("topics.receipts"), "\(error)")
    }

    @Test func `an app whose receipts no key speaks for is refused in one line`() throws {
        let (code, error) = try Self.run { folder in
            let topic = #""receipts": "appattest.receipts", "requests": "#
            try folder.edit("config/worker.json", #""requests": "#, topic)
            try folder.edit("config/apps.json", #""appId": "#, #""risk": {"mode": "report"}, "appId": "#)
        }
        #expect(code == 2 && error.contains("risk.keys"), "\(error)")
    }
}
