internal import AppAttest
internal import AppCheck
internal import BrokerKit
internal import DeviceLab
internal import Foundation
internal import JSON
internal import Kafka
internal import Pipeline
internal import Settings
internal import Streams
internal import TestKit
import Testing
internal import Traffic

@testable internal import Lab

/// A folder for what `simulate` writes, removed with its owner.
final class SimulationFolder: FileFolder {
    let path = FileManager.default.temporaryDirectory.path + "/simulate-" + UUID().uuidString

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A folder with a new configuration.
    static func configured() throws -> SimulationFolder {
        let folder = try SimulationFolder()
        let made = folder.simulate("--new-config", "--devices", "1", "--records", "1", "--output", "/dev/null")
        try #require(made.code == 0, "\(made.transcript.error)")
        return folder
    }

    /// Starts a command of the built program on this folder's configuration.
    func start(_ command: String, _ arguments: [String] = []) throws -> ProgramProcess {
        try ProgramProcess([command, "--config", path + "/config"] + arguments, in: path)
    }

    /// Runs `simulate` on this folder's configuration.
    func simulate(_ arguments: String...) -> (code: Int32, transcript: Transcript) { simulate(arguments) }

    func simulate(_ arguments: [String]) -> (code: Int32, transcript: Transcript) {
        Transcript.run(["simulate", "--config", path + "/config"] + arguments)
    }

    /// Runs it with a capture as its output, and reads the capture.
    func capture(_ arguments: String...) throws -> [InboundRecord] { try capture(arguments) }

    func capture(_ arguments: [String]) throws -> [InboundRecord] {
        let (code, transcript) = simulate(["--output", file("capture.ndjson")] + arguments)
        try #require(code == 0, "\(transcript.error)")
        return try captured("capture.ndjson")
    }

    /// Replays the capture; returns each request's outcome by its id: `accepted` or the reason.
    func outcomes() throws -> [String: String] {
        let (code, transcript) = Transcript.run([
            "replay", "--config", path + "/config", "--input", path + "/capture.ndjson", "--output", path + "/out",
        ])
        try #require(code == 0, "\(transcript.error)")
        var outcomes: [String: String] = [:]
        for record in try captured("out/results.ndjson") {
            let result = try JSONDocument(parsing: record.value ?? []).root
            let id = try #require(result["requestId"]?.string)
            outcomes[id] = result["reason"]?.string ?? result["verdict"]?.string
        }
        return outcomes
    }
}

@Suite("simulate")
struct SimulateTests {
    private static let start = "2026-11-20T12:00:00Z"

    @Test func `the same directory, seed and start give the same bytes; another seed gives other bytes`() throws {
        let folder = try SimulationFolder()
        let load = ["--devices", "20", "--records", "300", "--faults", "0.3", "--start", Self.start]
        func bytes(_ more: String...) throws -> [UInt8] {
            try #require(folder.simulate(["--output", folder.file("c")] + load + more).code == 0)
            return try folder.bytes("c")
        }
        let first = try bytes("--new-config")
        #expect(try bytes() == first)
        #expect(try bytes("--seed", "1") == first)
        #expect(try bytes("--seed", "2") != first)
    }

    @Test func `records have unique ids, canonical keys on their murmur2 partitions, consecutive offsets, and times`()
        throws
    {
        let folder = try SimulationFolder()
        let records = try folder.capture([
            "--new-config", "--devices", "10", "--records", "200", "--start", Self.start, "--rate", "4",
        ])
        #expect(records.count == 200)
        #expect(Set(records.map { $0.headers.first?.value ?? [] }).count == 200)
        var next: [Int32: Int64] = [:]
        for (index, record) in records.enumerated() {
            let key = try #require(record.key)
            #expect(key.count == 44)
            #expect(record.partition == Kafka.Partitioner.murmur2.partition(of: key, count: 4))
            #expect(record.offset == next[record.partition, default: 0])
            next[record.partition] = record.offset + 1
            #expect(record.timestamp == 1_795_176_000_000 + Int64(index) * 250)
            #expect(record.topic == "appattest.requests")
            #expect(record.headers.map(\.name) == [Array("request-id".utf8)])
        }
        #expect(next.count > 1)
    }

    @Test(arguments: [1, 7, 100])
    func `without faults every record is accepted, and each device attests first`(devices: Int) throws {
        let folder = try SimulationFolder()
        let records = try folder.capture("--new-config", "--devices", "\(devices)", "--records", "100")
        let outcomes = try folder.outcomes()
        #expect(outcomes.count == 100)
        #expect(outcomes.values.allSatisfy { $0 == "accepted" })
        var attested: Set<[UInt8]> = []
        for record in records {
            let isAttestation = String(decoding: record.value ?? [], as: UTF8.self).contains(":verifyAttestation")
            let key = try #require(record.key)
            #expect(attested.insert(key).inserted == isAttestation)
        }
        #expect(attested.count == devices)
    }

    @Test func `the last record's time is now, unless a start is given`() throws {
        let before = timeOfDay()
        let records = try SimulationFolder().capture("--new-config", "--devices", "2", "--records", "50")
        let after = timeOfDay()
        let last = try #require(records.last)
        #expect((before...after).contains(last.timestamp))
        #expect(records[0].timestamp == last.timestamp - 49)
    }

    @Test(
        arguments: ["verifyAttestation,verifyAssertion", "verifyAssertion", "verifyAttestation"]
    )
    func `each faulty record is refused with its own reason, all others are accepted`(verbs: String) throws {
        let folder = try SimulationFolder()
        let (devices, records) = (30, verbs == "verifyAttestation" ? 400 : 1500)
        _ = try folder.capture([
            "--new-config", "--devices", "\(devices)", "--records", "\(records)", "--faults", "0.4", "--verbs", verbs,
            "--start", Self.start,
        ])
        var settings = SimulationSettings(devices: devices, records: records)
        settings.verbs = Set(verbs.split(separator: ",").compactMap { Verb(rawValue: String($0)) })
        settings.faultShare = 0.4
        try expect(folder, settings, apps: 1)
    }

    @Test func `devices follow their app's rules, and their faults are refused`() throws {
        let folder = try SimulationFolder.configured()
        let rules = [
            #""environments":["development"],"categories":{"allow":[3],"whenMissing":"refuse"}"#,
            #""environments":["production","development"],"receipt":"require","macOS":{"acl":"accept"}"#,
            #""bundleVersions":{"allow":["7.1"],"whenMissing":"refuse"},"receipt":"ignore""#,
        ]
        let apps = rules.enumerated().map { #"{"appId":"app-\#($0)","appleAppIds":["T.a\#($0)","T.b\#($0)"],\#($1)}"# }
        try folder.write(
            #"{"projects":[{"number":"1","apps":[\#(apps.joined(separator: ","))]}]}"#,
            to: "config/apps.json"
        )
        _ = try folder.capture(["--devices", "31", "--records", "1000", "--faults", "0.3", "--start", Self.start])
        var settings = SimulationSettings(devices: 31, records: 1000)
        settings.faultShare = 0.3
        try expect(folder, settings, apps: 3)
    }

    /// Compares the outcomes of a replay with the plan's.
    private func expect(_ folder: SimulationFolder, _ settings: SimulationSettings, apps: Int) throws {
        let configuration = try Configuration.load(directory: folder.path + "/config")
        let simulated = configuration.registry.apps.compactMap(SimulatedApp.init)
        #expect(simulated.count == apps)
        let ca = try NewConfiguration.authority(of: folder.path + "/config")
        let plans = SimulationPlan.plans(simulated, ca, settings)
        let outcomes = try folder.outcomes()
        #expect(outcomes.count == settings.records)
        var faulty = 0
        for index in 0..<settings.records {
            let step = plans[index % apps].fleet.step(index / apps)
            let expected = step.fault?.expectedReason ?? "accepted"
            if step.fault != nil { faulty += 1 }
            #expect(outcomes["sim-1-\(index)"] == expected, "\(step.fault?.name ?? "honest") \(step)")
        }
        #expect(faulty > settings.records / 10)
    }

    @Test func `a new configuration is complete, and never overwrites an existing one`() throws {
        let folder = try SimulationFolder()
        let load = ["--devices", "1", "--records", "1", "--output", "/dev/null"]
        func run(_ more: String...) -> (Int32, String) {
            let (code, transcript) = folder.simulate(load + more)
            return (code, transcript.error)
        }
        #expect(run().0 == 2, "there is no configuration yet")
        #expect(run("--new-config").0 == 0)
        let authority = try folder.bytes("config/lab-authority.json")
        let (code, error) = run("--new-config")
        #expect(code == 2)
        #expect(error.contains("already exists"))
        #expect(try folder.bytes("config/lab-authority.json") == authority)
        let configuration = try Configuration.load(directory: folder.path + "/config")
        #expect(configuration.registry.apps.count == 1)
        #expect(configuration.registry.apps[0].projectID != nil)
        #expect(configuration.registry.apps[0].rollout.mode == .off)
        #expect(configuration.registry.apps[0].tokens.algorithm == .rs256)
        #expect(configuration.registry.apps[0].expectations.environments == [.production])
        let names = configuration.kafkaProperties.map(\.name)
        #expect(names == ["bootstrap.servers", "group.id", "session.timeout.ms", "max.poll.interval.ms"])
        let ca = try NewConfiguration.authority(of: folder.path + "/config")
        #expect(configuration.anchors.attestation.map(\.pem) == [ca.attestationAnchorPEM])
        #expect(configuration.anchors.receipt.map(\.pem) == [ca.receiptAnchorPEM])
    }

    @Test(
        arguments: [
            (["--devices", "2", "--records", "1", "--output", "x"], "--records must be at least --devices (2)"),
            (["--devices", "0", "--records", "1", "--output", "x"], "--devices must be a whole number"),
            (["--devices", "1", "--records", "1"], "give either --output CAPTURE or --publish"),
            (["--devices", "1", "--records", "1", "--output", "x", "--publish"], "give either --output"),
            (
                ["--devices", "1", "--records", "1", "--publish", "--start", "2026-11-20T12:00:00Z"],
                "--start cannot be used with --publish"
            ),
            (
                ["--devices", "1", "--records", "1", "--output", "x", "--verbs", "exchangeDebugToken"],
                "'exchangeDebugToken' cannot be simulated"
            ),
            (
                ["--devices", "1", "--records", "1", "--output", "x", "--verbs", "verifyAssertoin"],
                "did you mean verifyAssertion?"
            ),
            (["--devices", "1", "--records", "1", "--live"], "--live needs --publish"),
            (
                ["--devices", "1", "--records", "1", "--publish", "--live", "--faults", "0.1"],
                "--faults cannot be used with"
            ),
            (
                ["--devices", "1", "--records", "1", "--publish", "--live", "--verbs", "verifyAssertion"],
                "--verbs cannot be used with --live"
            ),
            (["--devices", "1", "--records", "1", "--output", "x", "--faults", "2"], "--faults must be a number"),
            (["--devices", "1", "--records", "1", "--output", "x", "--rate", "0"], "--rate must be a number"),
        ]
    )
    func `options that cannot be simulated end with one line and exit code 2`(arguments: [String], expected: String) {
        let (code, transcript) = Transcript.run(["simulate", "--config", "/nonexistent"] + arguments)
        #expect(code == 2)
        #expect(transcript.error.contains(expected))
        #expect(transcript.error.filter(\.isNewline).count == 1)
    }

    @Test func `an unwritable capture ends with exit code 1`() throws {
        let folder = try SimulationFolder()
        let (code, transcript) = folder.simulate([
            "--new-config", "--devices", "1", "--records", "1", "--output", folder.path + "/no/such/folder/x",
        ])
        #expect(code == 1)
        #expect(transcript.error.contains("cannot write"))
    }

    @Test func `an app whose rules no fake device can meet is named`() throws {
        let folder = try SimulationFolder.configured()
        try folder.write(
            #"{"projects":[{"number":"1","apps":[{"appId":"odd","appleAppIds":[]}]}]}"#,
            to: "config/apps.json"
        )
        let (code, transcript) = folder.simulate("--devices", "1", "--records", "1", "--output", "/dev/null")
        #expect(code == 2)
        #expect(transcript.error.contains("projects/1/apps/odd"))
    }
}

@Suite("simulate --publish", .waiting, .serialized)
struct SimulatePublishTests {
    @Test(arguments: [nil, "400"])
    func `published records are the plan's, dated with the wall clock's time`(rate: String?) throws {
        let cluster = try MockCluster()
        try cluster.createTopic("appattest.requests", partitions: 6)
        let folder = try SimulationFolder.configured()
        try folder.write(
            "bootstrap.servers=\(cluster.bootstrapServers)\ngroup.id=g\n",
            to: "config/kafka.properties"
        )
        let (code, transcript) = folder.simulate(
            ["--devices", "20", "--records", "200", "--publish"] + (rate.map { ["--rate", $0] } ?? [])
        )
        #expect(code == 0, "\(transcript.error)")
        #expect(transcript.output == "published 200 records of 20 devices\n")
    }

    @Test func `publish sends and counts the records before an unreadable line`() throws {
        let cluster = try MockCluster()
        try cluster.createTopic("appattest.requests", partitions: 6)
        let folder = try SimulationFolder()
        let capture = folder.path + "/capture"
        #expect(folder.simulate("--new-config", "--devices", "5", "--records", "30", "--output", capture).code == 0)
        try folder.write(
            "bootstrap.servers=\(cluster.bootstrapServers)\ngroup.id=g\n",
            to: "config/kafka.properties"
        )
        let lines = try String(contentsOfFile: capture, encoding: .utf8)
        try folder.write(lines + "{\"par\n" + lines, to: "capture")
        let (code, transcript) = Transcript.run(["publish", "--config", folder.path + "/config", "--input", capture])
        #expect(code == 1)
        #expect(transcript.output == "30 records acknowledged, 0 failed\n")
        #expect(transcript.error.contains("line 31 is not a capture record"), "\(transcript.error)")
    }
}
