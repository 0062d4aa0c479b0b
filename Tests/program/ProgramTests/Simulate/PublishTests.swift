internal import BrokerKit
internal import Foundation
internal import Kafka
internal import TestKit
internal import Testing

@Suite("simulate --publish, and publish", .waiting, .serialized)
struct PublishTests {
    private let cluster: MockCluster
    private let folder: SimulationFolder

    init() throws {
        cluster = try MockCluster()
        try cluster.createTopic("appattest.requests", partitions: 6)
        folder = try SimulationFolder.configured()
        let properties = "bootstrap.servers=\(cluster.bootstrapServers)\ngroup.id=g\n"
        try folder.write(properties, to: "config/kafka.properties")
    }

    @Test(arguments: [nil, "400"])
    func `published records are the plan's, dated with the wall clock's time`(rate: String?) throws {
        let load = ["--devices", "20", "--records", "200", "--publish"] + (rate.map { ["--rate", $0] } ?? [])
        let (code, transcript) = folder.simulate(load)
        #expect(code == 0, "\(transcript.error)")
        #expect(transcript.output == "published 200 records of 20 devices\n")
    }

    @Test func `publish sends and counts the records before an unreadable line`() throws {
        _ = try folder.capture(["--devices", "5", "--records", "30"])
        let lines = try folder.text("capture.ndjson")
        try folder.write(lines + "{\"par\n" + lines, to: "capture.ndjson")
        let input = ["--config", folder.config, "--input", folder.file("capture.ndjson")]
        let (code, transcript) = Transcript.run(["publish"] + input)
        #expect(code == 1)
        #expect(transcript.output == "30 records acknowledged, 0 failed\n")
        #expect(transcript.error.contains("line 31 is not a capture record"), "\(transcript.error)")
    }

    @Test(.enabled(if: WorkerBinary.url != nil), arguments: [SIGINT, SIGTERM])
    func `a signal ends publish with exit code 1 and one line of what was acknowledged`(number: Int32) throws {
        let capture = folder.file("capture.zst")
        #expect(folder.simulate(["--devices", "5", "--records", "900", "--output", capture]).code == 0)
        let publish = try folder.start("publish", ["--input", capture, "--rate", "20"])
        // Its first line of progress: some records are acknowledged, and most are not yet read.
        #expect(publish.says(" records acknowledged, "), "\(publish.error)")
        publish.signal(number)
        #expect(publish.waitForEnd() == .exit(1), "\(publish.error)")
        let line = publish.error.split(separator: "\n").last ?? ""
        let match = try #require(
            line.firstMatch(of: /stopped by a signal before the end: (\d+) records were acknowledged\.$/)
        )
        let count = try #require(Int(match.1))
        #expect((1..<900).contains(count))
    }
}
