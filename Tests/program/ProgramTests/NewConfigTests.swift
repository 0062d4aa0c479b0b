internal import AppCheck
internal import Foundation
internal import Settings
internal import TestKit
internal import Testing

@testable internal import CommandFrame
@testable internal import Commands

@Suite("new-config")
struct NewConfigTests {
    private static let files = [
        "worker.json", "jwks.json", "apps.json", "kafka.properties", "lab-authority.json",
        "anchors/lab-attestation-root.pem",
        "anchors/lab-receipt-root.pem",
    ]

    private func run(_ arguments: [String]) -> (code: Int32, transcript: Transcript) {
        let transcript = Transcript()
        let code = AttestWorker.main(arguments, commands: AttestWorker.commands, console: transcript.console)
        return (code, transcript)
    }

    private func newConfig(_ folder: SimulationFolder) throws -> String {
        let (code, transcript) = run(["new-config", "--config", folder.path + "/config"])
        try #require(code == 0, "\(transcript.error)")
        #expect(transcript.error.isEmpty)
        return transcript.output
    }

    /// Every file below the folder, by its path in it.
    private func contents(of folder: SimulationFolder) throws -> Set<String> {
        let files = FileManager.default
        return try Set(
            files.subpathsOfDirectory(atPath: folder.path).filter { name in
                let attributes = try files.attributesOfItem(atPath: "\(folder.path)/\(name)")
                return attributes[.type] as? FileAttributeType == .typeRegular
            }
        )
    }

    @Test func `the configuration is complete, loads without warnings, and every file is listed`() throws {
        let folder = try SimulationFolder()
        let output = try newConfig(folder)
        let prefix = "wrote \(folder.path)/"
        let listed = output.split(separator: "\n").filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count) }
        #expect(try Set(listed.map(String.init)) == contents(of: folder))
        #expect(listed.count == Self.files.count + 3, "one key of each kind")
        let loaded = try LoadedConfiguration.load(directory: folder.path + "/config")
        #expect(loaded.warnings(now: 0) == [])
        #expect(loaded.configuration.registry.apps.count == 1)
        for file in listed where file.hasPrefix("config/keys/") || file.hasSuffix("lab-authority.json") {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/\(file)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
    }

    @Test func `simulate uses the configuration, and replay accepts its records`() throws {
        let folder = try SimulationFolder()
        _ = try newConfig(folder)
        _ = try folder.capture("--devices", "2", "--records", "20")
        let outcomes = try folder.outcomes()
        #expect(outcomes.count == 20 && outcomes.values.allSatisfy { $0 == "accepted" })
    }

    @Test func `simulate --new-config writes the same files, except for secrets`() throws {
        let (folder, other) = (try SimulationFolder(), try SimulationFolder())
        _ = try newConfig(folder)
        _ = try other.capture("--new-config", "--devices", "1", "--records", "1")
        for file in ["apps.json", "kafka.properties"] {
            #expect(try folder.bytes("config/" + file) == other.bytes("config/" + file))
        }
        for file in Self.files { #expect(try !other.bytes("config/" + file).isEmpty) }
        #expect(try folder.bytes("config/lab-authority.json") != other.bytes("config/lab-authority.json"))
    }

    @Test func `the directory serves a gateway too, without warnings, by the key set of its own signing key`() throws {
        let folder = try SimulationFolder()
        _ = try newConfig(folder)
        let gateway = try LoadedGateway.load(directory: folder.path + "/config")
        #expect(gateway.warnings(now: 0) == [])
        let worker = try LoadedConfiguration.load(directory: folder.path + "/config")
        #expect(gateway.publicKeys == worker.keys.rings.tokens.jsonWebKeySet + [0x0A])
        #expect(gateway.configuration.gateway.metricsPort == 9465)
        #expect(gateway.configuration.metricsPort != 9465)
        let (code, transcript) = run(["gateway", "--config", folder.path + "/config", "--check"])
        #expect(code == 0 && transcript.error.isEmpty, "\(transcript.error)")
    }

    @Test func `the printed commands exist, with their options`() throws {
        let folder = try SimulationFolder()
        let lines = try newConfig(folder).split(separator: "\n").filter { $0.hasPrefix("  attest-worker ") }
        #expect(lines.count == 9)
        for line in lines {
            let words = line.split(separator: " ").dropFirst().map(String.init)
            let command = try #require(AttestWorker.commands.first { $0.name == words[0] })
            let arguments = try OptionParser(command: command).parse(Array(words.dropFirst()))
            #expect(arguments.string("--config") == folder.path + "/config")
        }
    }

    @Test(arguments: files)
    func `an existing file is never overwritten, and nothing else is written`(file: String) throws {
        let folder = try SimulationFolder()
        let anchors = folder.path + "/config/anchors"
        try FileManager.default.createDirectory(atPath: anchors, withIntermediateDirectories: true)
        try folder.write("mine", to: "config/" + file)
        let (code, transcript) = run(["new-config", "--config", folder.path + "/config"])
        #expect(code == 2 && transcript.output.isEmpty)
        #expect(
            transcript.error == "attest-worker: \(folder.path)/config/\(file) already exists: name another directory.\n"
        )
        #expect(try contents(of: folder) == ["config/" + file])
        #expect(try folder.bytes("config/" + file) == Array("mine".utf8))
    }

    @Test(
        arguments: [
            ([], "new-config: --config DIR is required."),
            (["--config"], "new-config: --config needs a value: --config DIR."),
            (["--config", "DIR", "--devices", "1"], "new-config: unknown option --devices"),
            (["--config", "DIR", "--confg", "x"], "new-config: unknown option --confg: did you mean --config?"),
            (["--config", "DIR", "more"], "new-config: unexpected argument 'more'."),
        ]
    )
    func `wrong usage ends with one line and exit code 2`(arguments: [String], expected: String) throws {
        let folder = try SimulationFolder()
        let given = arguments.map { $0 == "DIR" ? folder.path + "/config" : $0 }
        let (code, transcript) = run(["new-config"] + given)
        #expect(code == 2 && transcript.output.isEmpty)
        #expect(transcript.error.hasPrefix("attest-worker: " + expected), "\(transcript.error)")
        #expect(transcript.error.split(separator: "\n").count == 1)
        #expect(try contents(of: folder).isEmpty)
    }

    @Test func `a directory that cannot be made ends with one line and exit code 1`() throws {
        let folder = try SimulationFolder()
        try folder.write("", to: "file")
        let (code, transcript) = run(["new-config", "--config", folder.path + "/file/config"])
        #expect(code == 1 && transcript.output.isEmpty)
        #expect(transcript.error.hasPrefix("attest-worker: cannot create \(folder.path)/file/config/anchors: "))
        #expect(transcript.error.split(separator: "\n").count == 1)
    }
}
