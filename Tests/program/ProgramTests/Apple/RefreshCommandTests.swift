internal import TestKit
internal import Testing

@Suite("refresh-receipts, the command")
struct RefreshCommandTests {
    /// Expects that the command refuses a configuration in one line with these words.
    private static func expect(_ words: String, _ change: (SimulationFolder) throws -> Void = { _ in }) throws {
        let folder = try SimulationFolder.configured()
        try change(folder)
        let arguments = ["refresh-receipts", "--check", "--config", folder.config, "--instance", "a"]
        let (code, transcript) = Transcript.run(arguments)
        #expect(code == 2 && transcript.error.contains(words), "\(transcript.error)")
        #expect(transcript.error.split(separator: "\n").count == 1, "\(transcript.error)")
    }

    @Test func `without a topic for receipts there is nothing to do`() throws { try Self.expect("topics.receipts") }

    @Test func `an app whose receipts no key speaks for is refused in one line`() throws {
        try Self.expect("risk.keys") { folder in
            let topic = #""receipts": "appattest.receipts", "requests": "#
            try folder.edit("config/worker.json", #""requests": "#, topic)
            try folder.edit("config/apps.json", #""appId": "#, #""risk": {"mode": "report"}, "appId": "#)
        }
    }
}
