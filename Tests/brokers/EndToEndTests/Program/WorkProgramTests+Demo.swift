import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaPorts
import TestKit
import Testing

/// `demo --broker`: the demo on a Kafka of one's own, which it leaves as it was.
extension WorkProgramTests {
    private static func demo(_ broker: RealCluster, in folder: String, seconds: Int) throws -> ProgramProcess {
        let arguments = ["demo", "--broker", broker.bootstrapServers, "--seconds", "\(seconds)"]
        return try ProgramProcess(arguments, in: folder)
    }

    /// Topics and groups of demos.
    private static func leftOver(_ broker: RealCluster) throws -> [String] {
        let admin = try Admin(KafkaProperties([("bootstrap.servers", broker.bootstrapServers)]))
        let groups = try broker.tool(.groups, "--list")
        let names = try admin.topics().map(\.name) + groups.split(separator: "\n").map(String.init)
        return names.filter { $0.hasPrefix("attest-demo-") }
    }

    @Test func `demo plays on a real broker, explains a refusal, shows metrics that move, and leaves nothing behind`()
        throws
    {
        let broker = try #require(RealClusterTrait.cluster)
        let folder = try ProgramWorkplace("own", topics: .nobody)
        let demo = try Self.demo(broker, in: folder.path, seconds: 600)
        try #require(demo.says("/status"), "\(demo.output) \(demo.error)")
        #expect(try Self.leftOver(broker).count > 7)
        #expect(demo.output.contains("Every record has its expected outcome.") && !demo.output.contains("UNEXPECTED"))
        #expect(!demo.output.contains("mock broker"))
        #expect(demo.output.contains("as inspect --input CAPTURE --request-id ID explains it:"))
        let address = try #require(demo.output.firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)\/metrics/)?.output.1)
        let port = try #require(Int(address))
        func requests() -> Int? {
            let page = Curl.page(port, "/metrics")
            return page.status == 200 ? Curl.sum("attest_requests_total", page.body) : nil
        }
        let first = try #require(requests())
        #expect(first > 600)
        #expect(eventually({ requests() ?? 0 }, until: { $0 > first }))
        demo.expectEnd(on: SIGINT)
        #expect(demo.error.isEmpty, "\(demo.error)")
        #expect(try Self.leftOver(broker) == [])
    }

    @Test func `a demo that is stopped before its account leaves nothing behind either`() throws {
        let broker = try #require(RealClusterTrait.cluster)
        let folder = try ProgramWorkplace("own", topics: .nobody)
        let demo = try Self.demo(broker, in: folder.path, seconds: 0)
        #expect(demo.says("are made on"))
        demo.signal(SIGTERM)
        #expect(demo.waitForEnd() == .exit(1))
        #expect(try Self.leftOver(broker) == [])
    }
}
