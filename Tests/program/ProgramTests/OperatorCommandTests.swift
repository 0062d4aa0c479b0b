import AppAttest
import AppCheck
import DeviceLab
import Foundation
import Settings
import TestKit
import Testing

@testable import Commands

@Suite("ban, unban, forget and requeue, before they contact a broker")
struct OperatorCommandTests {
    private static let broker = "bootstrap.servers=127.0.0.1:1\ngroup.id=g\n"
    private static let key = String(decoding: KeySamples.key(1).keyID.recordKey, as: UTF8.self)

    private func run(
        _ arguments: [String],
        worker: String = #""lanes":1"#
    ) throws -> (code: Int32, transcript: Transcript) {
        let directory = try ConfigurationDirectory(
            worker: ConfigurationDirectory.worker(worker),
            properties: Self.broker
        )
        return Transcript.run(arguments.map { $0.replacing("DIR", with: directory.path) })
    }

    @Test(
        arguments: [
            (["ban"], "--config DIR is required"),
            (["ban", "--config", "DIR"], "name one: --key-id KEYID or --installation ID."),
            (["unban", "--config", "DIR", "--key-id", key, "--installation", "x"], "name one: --key-id KEYID"),
            (["ban", "--config", "DIR", "--key-id", "abc"], "--key-id must be a key ID, 44 characters of base64"),
            (["forget", "--config", "DIR"], "--key-id KEYID is required"),
            (["forget", "--config", "DIR", "--installation", "x"], "unknown option --installation"),
            (
                ["ban", "--config", "DIR", "--installation", String(repeating: "x", count: 257)],
                "--installation must have 1 to 256 bytes."
            ),
            (["ban", "--config", "DIR", "--key-id", key], "worker.json lists no sealing key, and no challenge key"),
            (["ban", "--config", "DIR", "--key-id", key, "--until", "soon"], "--until must be a time such as"),
            (
                ["ban", "--config", "DIR", "--key-id", key, "--until", "+soon"],
                "--until must be a time, or + and a duration"
            ),
            (["ban", "--config", "DIR", "--key-id", key, "--until", "+0s"], "--until must lie ahead"),
            (
                ["ban", "--config", "DIR", "--key-id", key, "--until", "+2h"],
                "worker.json lists no sealing key, and no"
            ),
            (
                ["ban", "--config", "DIR", "--key-id", key, "--until", "+99999999999999999d"],
                "--until must be a time, or +"
            ),
            (["ban", "--config", "DIR", "--key-id", key, "--until", "2020-01-01T00:00:00Z"], "--until must lie ahead"),
            (
                ["unban", "--config", "DIR", "--key-id", key, "--until", "2100-01-01T00:00:00Z"],
                "unknown option --until"
            ),
            (
                ["forget", "--config", "DIR", "--key-id", key, "--until", "2100-01-01T00:00:00Z"],
                "unknown option --until"
            ),
            (["bans"], "--config DIR is required"),
            (["bans", "--config", "DIR", "--key-id", "abc"], "--key-id must be a key ID, 44 characters of base64"),
            (["requeue"], "--config DIR is required"),
            (["requeue", "--config", "DIR", "--reason", "internall"], "did you mean internal?"),
            (["requeue", "--config", "DIR", "--limit", "0"], "--limit must be a whole number of at least 1"),
            (["requeue", "--config", "DIR", "--since", "noon"], "--since must be a time"),
        ]
    )
    func `wrong usage, or no key to sign with, is one line and exit code 2`(
        arguments: [String],
        expected: String
    ) throws {
        let (code, transcript) = try run(arguments)
        #expect(code == 2, "\(transcript.error)")
        #expect(transcript.output.isEmpty && transcript.error.contains(expected), "\(transcript.error)")
        #expect(transcript.error.filter(\.isNewline).count == 1, "\(transcript.error)")
    }

    @Test func `an embedded broker has no topic to write to`() throws {
        let (code, transcript) = try run(["requeue", "--config", "DIR"], worker: #""embeddedBroker":true"#)
        #expect(code == 2 && transcript.error.contains("embeddedBroker"))
    }
}
