internal import Foundation
internal import Settings
internal import TestKit
internal import Testing

@testable internal import Run

@Suite("Doubts that depend on the machine")
struct StartDoubtTests {
    private let machine = StartDoubts(cores: 2, connections: 20_000, isScramWhole: false)

    @Test(arguments: [(0, 0), (8, 0), (9, 1), (512, 1)])
    func `more lanes than processors can use`(lanes: Int, count: Int) {
        var configuration = Configuration()
        configuration.lanes = lanes
        #expect(machine.ofWorker(configuration).filter { $0.contains("lanes is \(lanes)") }.count == count)
    }

    @Test(arguments: [(20_000, 0), (20_001, 1)])
    func `more connections than open files`(connections: Int, count: Int) {
        var configuration = Configuration()
        configuration.gateway.connections = connections
        #expect(machine.ofGateway(configuration).count == count)
    }

    @Test(arguments: [
        ("sasl.mechanism", "SCRAM-SHA-256", 1), ("sasl.mechanisms", "scram-sha-512", 1), ("sasl.mechanism", "PLAIN", 0),
    ])
    func `SCRAM with a library that Kafka 4 refuses`(name: String, value: String, count: Int) {
        var configuration = Configuration()
        configuration.kafkaProperties = [(name, value)]
        let whole = StartDoubts(cores: 2, connections: 20_000, isScramWhole: true)
        #expect(machine.notes(configuration).filter { $0.contains("SCRAM") }.count == count)
        #expect(whole.notes(configuration).filter { $0.contains("SCRAM") } == [])
    }

    @Test func `a worker without keys is noted, and one with a key is not`() throws {
        #expect(machine.notes(Configuration()).filter { $0.contains("no key is listed") }.count == 1)
        #expect(machine.notes(try KeyDirectory.complete().load().configuration) == [])
    }

    @Test(arguments: [("ABCDE12345.com.example.app", 1), ("ABCDE12346.com.example.app", 0)])
    func `the example's App ID in a configuration with keys`(id: String, count: Int) throws {
        let directory = try KeyDirectory.complete(app: #""tokenAlgorithm":"ES256","appleAppIds":["\#(id)"]"#)
        let configuration = try directory.load().configuration
        #expect(machine.ofWorker(configuration).count == count)
        // The shipped files list no keys.
        #expect(machine.ofWorker(try ConfigurationDirectory().load()) == [])
    }

    @Test(arguments: [
        ("head -c 32 /dev/urandom | base64", 1), ("echo AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=", 0),
    ])
    func `a program that writes another key each time`(script: String, count: Int) throws {
        let directory = try KeyDirectory(#""sealingKeys":[{"id":"s","command":["/bin/sh","-c","\#(script)"]}]"#)
        let lines = try directory.load().unsteadyKeys()
        #expect(lines.count == count)
        #expect(lines.allSatisfy { $0.hasPrefix("worker.json: the program of sealing key s writes another key") })
    }

    @Test func `the shipped configuration and a fresh one cause none`() throws {
        let root = PackageFolder.url
        let shipped = try Configuration.load(directory: root.appending(path: "Config").path)
        #expect(shipped.doubts + machine.ofWorker(shipped) + machine.ofGateway(Configuration()) == ([] as [String]))
        let folder = try SimulationFolder.configured()
        let fresh = try LoadedConfiguration.load(directory: folder.config)
        #expect(fresh.warnings(now: 0) + machine.ofWorker(fresh.configuration) + (try fresh.unsteadyKeys()) == [])
    }

    @Test(
        arguments: [
            ("3f2a9c01b7de", true, false, true), ("3f2a9c01b7de", false, false, false),
            ("3f2a9c01b7dg", true, false, false), ("3f2a9c01b7d", true, false, false),
            ("worker-1", true, false, false), ("attest-worker-0", true, true, false),
            ("attest-worker-12", false, true, false), ("attest-worker-5d9f7c6b8-x2x4q", true, true, true),
            ("attest-worker-5d9f7c6b8-24785", true, true, true), ("worker", true, true, true), ("0", false, true, true),
            ("attest-", false, true, true),
        ]
    )
    func `engines' names and those of pods without an ordinal are warned of`(
        host: String,
        isContainer: Bool,
        isPod: Bool,
        isWarned: Bool
    ) {
        let warning = EphemeralHostName.warning(host: host, isContainer: isContainer, isPod: isPod)
        #expect((warning != nil) == isWarned)
        if let warning { #expect(warning.contains(host) && warning.contains("membership: dynamic")) }
    }
}
