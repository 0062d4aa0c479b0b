import BrokerKit
import Foundation
import Kafka
import TestKit
import Testing

@Suite("publish and signals", .waiting, .enabled(if: WorkerBinary.url != nil))
struct PublishStopTests {
    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends publish with exit code 1 and one line of what was acknowledged`(number: Int32) throws {
        let cluster = try MockCluster()
        try cluster.createTopic("appattest.requests", partitions: 4)
        let folder = try SimulationFolder()
        let capture = folder.path + "/capture.zst"
        #expect(folder.simulate("--new-config", "--devices", "5", "--records", "900", "--output", capture).code == 0)
        try folder.write("bootstrap.servers=\(cluster.bootstrapServers)\n", to: "config/kafka.properties")
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
