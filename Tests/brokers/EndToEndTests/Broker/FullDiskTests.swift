import Broker
import BrokerKit
import ChaosKit
import Foundation
import Testing

private let smallDisk = ClusterSettings(brokers: 3) {
    $0.diskMegabytes = 64
    // Small files, so that there is room for some.
    $0.properties = [
        ("log.segment.bytes", "1048576"), ("log.index.size.max.bytes", "65536"),
        ("offsets.topic.segment.bytes", "1048576"), ("transaction.state.log.segment.bytes", "1048576"),
    ]
}

/// A broker among three whose disk is full. It needs a disk of its own, which takes the right to mount one.
@Suite(
    .brokerTests,
    .enabled(if: RealCluster.canMountDisks, "a small disk cannot be mounted here"),
    .cluster(smallDisk),
    .serialized
)
struct FullDiskTests {
    @Test func `a full disk on the broker costs no request`() throws {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let workplace = try ProgramWorkplace("full", topics: .workplace) { $0.members = #""batch": {"records": 100},"# }
        try workplace.publish(3_000)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(worker.says("in order"), "\(worker.error)")
        try cluster.fillDisk()
        // The broker ends when it cannot write; its data stays as it was.
        #expect(Deadline.wait(60) { !cluster.isRunning(1) }, "\(cluster.logTail())")
        #expect(worker.isRunning, "\(worker.error)")
        try cluster.clearDisk()
        try cluster.start()
        try workplace.expectOrder(of: worker)
    }
}
