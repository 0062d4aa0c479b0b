internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import Lab
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

    private let folder: SimulationFolder

    init() throws { folder = try SimulationFolder() }

    private func newConfig() throws -> String {
        let transcript = try Transcript.done(["new-config", "--config", folder.config])
        #expect(transcript.error.isEmpty)
        return transcript.output
    }

    /// Every file below the folder, by its path in it.
    private func contents() throws -> Set<String> {
        let files = FileManager.default
        return try Set(
            files.subpathsOfDirectory(atPath: folder.path).filter { name in
                let attributes = try files.attributesOfItem(atPath: folder.file(name))
                return attributes[.type] as? FileAttributeType == .typeRegular
            }
        )
    }

    @Test func `the configuration is complete, loads without warnings, and every file is listed`() throws {
        let output = try newConfig()
        let prefix = "wrote \(folder.path)/"
        let listed = output.split(separator: "\n").filter { $0.hasPrefix(prefix) }.map { $0.dropFirst(prefix.count) }
        #expect(try Set(listed.map(String.init)) == contents())
        #expect(listed.count == Self.files.count + 3, "one key of each kind")
        let loaded = try LoadedConfiguration.load(directory: folder.config)
        #expect(loaded.warnings(now: 0) == [])
        for file in listed where file.hasPrefix("config/keys/") || file.hasSuffix("lab-authority.json") {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(String(file)))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
        }
        let (configuration, rings) = (loaded.configuration, loaded.keys.rings)
        let app = try #require(configuration.registry.apps.first)
        #expect(configuration.registry.apps.count == 1 && app.projectID != nil && app.rollout.mode == .off)
        #expect(app.tokens.algorithm == .rs256 && app.expectations.environments == [.production])
        let names = configuration.kafkaProperties.map(\.name)
        #expect(names == ["bootstrap.servers", "group.id", "session.timeout.ms", "max.poll.interval.ms"])
        let ca = try NewConfiguration.authority(of: folder.config)
        #expect(configuration.anchors.attestation.map(\.pem) == [ca.attestationAnchorPEM])
        #expect(configuration.anchors.receipt.map(\.pem) == [ca.receiptAnchorPEM])
        #expect(rings.tokens.keys.map(\.algorithm) == [.rs256] && rings.tokens.active(.rs256) != nil)
        #expect(rings.tokens.keys[0].key.signatureBytes == 256)
        #expect(rings.sealing.keys.count == 1 && rings.challenges.keys.count == 1)
    }

    @Test func `simulate --new-config writes the same files, except for secrets, and overwrites none`() throws {
        let other = try SimulationFolder()
        _ = try newConfig()
        #expect(other.simulate(SimulationFolder.least).code == 2, "there is no configuration yet")
        #expect(other.simulate(SimulationFolder.least + ["--new-config"]).code == 0)
        for file in ["apps.json", "kafka.properties"] {
            #expect(try folder.bytes("config/" + file) == other.bytes("config/" + file))
        }
        for file in Self.files { #expect(try !other.bytes("config/" + file).isEmpty) }
        let authority = try other.bytes("config/lab-authority.json")
        #expect(try folder.bytes("config/lab-authority.json") != authority)
        let (one, two) = (
            try LoadedConfiguration.load(directory: folder.config).keys,
            try LoadedConfiguration.load(directory: other.config).keys
        )
        #expect(one.rings.tokens.keys[0].kid != two.rings.tokens.keys[0].kid)
        #expect(!one.sealing[0].secret.isEqual(to: two.sealing[0].secret))
        #expect(!one.sealing[0].secret.isEqual(to: one.challenges[0].secret))
        let again = other.simulate(SimulationFolder.least + ["--new-config"])
        #expect(again.code == 2 && again.transcript.error.contains("already exists"))
        #expect(try other.bytes("config/lab-authority.json") == authority)
    }

    @Test func `the directory serves a gateway too, without warnings, by the key set of its own signing key`() throws {
        _ = try newConfig()
        let gateway = try LoadedGateway.load(directory: folder.config)
        #expect(gateway.warnings(now: 0) == [])
        let worker = try LoadedConfiguration.load(directory: folder.config)
        #expect(gateway.publicKeys == worker.keys.rings.tokens.jsonWebKeySet + [0x0A])
        #expect(gateway.configuration.gateway.metricsPort == 9465)
        #expect(gateway.configuration.metricsPort != 9465)
        let checked = try Transcript.done(["gateway", "--config", folder.config, "--check"])
        #expect(checked.error.isEmpty, "\(checked.error)")
    }

    @Test func `the printed commands exist, with their options`() throws {
        let lines = try newConfig().split(separator: "\n").filter { $0.hasPrefix("  attest-worker ") }
        #expect(lines.count == 9)
        for line in lines {
            let words = line.split(separator: " ").dropFirst().map(String.init)
            let command = try #require(AttestWorker.commands.first { $0.name == words[0] })
            let arguments = try OptionParser(command: command).parse(Array(words.dropFirst()))
            #expect(arguments.string("--config") == folder.config)
        }
    }

    @Test(arguments: files)
    func `an existing file is never overwritten, and nothing else is written`(file: String) throws {
        let anchors = folder.file("config/anchors")
        try FileManager.default.createDirectory(atPath: anchors, withIntermediateDirectories: true)
        try folder.write("mine", to: "config/" + file)
        let (code, transcript) = Transcript.run(["new-config", "--config", folder.config])
        #expect(code == 2 && transcript.output.isEmpty)
        #expect(
            transcript.error == "attest-worker: \(folder.path)/config/\(file) already exists: name another directory.\n"
        )
        #expect(try contents() == ["config/" + file])
        #expect(try folder.bytes("config/" + file) == Array("mine".utf8))
    }

    @Test func `a directory that cannot be made ends with one line and exit code 1`() throws {
        try folder.write("", to: "file")
        let (code, transcript) = Transcript.run(["new-config", "--config", folder.file("file/config")])
        #expect(code == 1 && transcript.output.isEmpty)
        #expect(transcript.error.hasPrefix("attest-worker: cannot create \(folder.path)/file/config/anchors: "))
        #expect(transcript.error.split(separator: "\n").count == 1)
    }
}
