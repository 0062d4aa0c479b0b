import Broker
import BrokerKit
import ChaosKit
import Foundation
import Testing

extension RealCluster {
    /// Three partitions, and small batches, so that a fault finds many of them.
    fileprivate func workplace(_ prefix: String) throws -> ProgramWorkplace {
        try ProgramWorkplace(prefix, topics: .workplace) { $0.members = #""batch": {"records": 100},"# }
    }
}

private let watchful = ClusterSettings(brokers: 3) {
    $0.properties = [("broker.session.timeout.ms", "3000")]
}

/// One broker of three fails or restarts in the middle of the work. (A single one may forget what its coordinator has
/// decided, as the Kafka page says.)
@Suite(
    .brokerTests,
    .cluster(watchful),
    .serialized
)
struct BrokerFaultTests {
    enum Fault: Int, CaseIterable { case kill = 1, restart, pause }

    @Test func `the worker survives broker faults in the middle of the work`() throws {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let workplace = try cluster.workplace("ridden")
        let worker = try workplace.start("run", "--instance", "one")
        for (index, fault) in Fault.allCases.enumerated() {
            try workplace.publish(1_000, seed: UInt64(fault.rawValue))
            #expect(try workplace.hasOutcomes(index * 1_000 + 200, of: [worker]), "\(worker.error)")
            switch fault {
            case .kill: try cluster.kill(fault.rawValue)
            case .restart: try cluster.terminate(fault.rawValue)
            case .pause: try cluster.pause(fault.rawValue)
            }
            // Longer than the others wait for it: other brokers become leaders and coordinators.
            sleep(5)
            if fault == .pause { try cluster.resume(fault.rawValue) } else { try cluster.start(fault.rawValue) }
        }
        try workplace.expectOrder(of: worker)
    }
}

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
        let workplace = try cluster.workplace("full")
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
