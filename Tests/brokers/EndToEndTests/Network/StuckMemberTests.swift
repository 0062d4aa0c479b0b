import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import TestKit
import Testing

/// A worker whose calls the broker does not answer, and another one that joins. `STUCK_SECONDS=180` watches threads and
/// descriptors that long, and tries every call.
@Suite(
    .brokerTests,
    .cluster(.behindNetwork),
    .serialized
)
struct StuckMemberTests {
    private static let watched = ProcessInfo.processInfo.environment["STUCK_SECONDS"].flatMap { Int($0) }

    /// A client has 4 threads and 8 descriptors, and two of them may overlap: more is a pile.
    private static let ofClients = 12

    private static let callsAtStart: [APIKey] = [.offsetFetch, .initProducerID, .listOffsets]

    static let calls: [APIKey] =
        watched == nil ? [.endTransaction, .offsetFetch] : [.produce] + APIKey.transactional + callsAtStart

    /// The most threads and descriptors that a process has in a time: clients come and go meanwhile.
    private struct Load: CustomStringConvertible {
        private(set) var (threads, descriptors) = (0, 0)

        init(_ process: ProgramProcess, seconds: Int) throws {
            func count(_ folder: String) throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processID)/\(folder)").count
            }
            for _ in 0..<(seconds * 2) {
                (threads, descriptors) = (max(threads, try count("task")), max(descriptors, try count("fd")))
                Thread.sleep(forTimeInterval: 0.5)
            }
        }

        var description: String { "\(threads) threads, \(descriptors) descriptors" }
    }

    private func workplace(_ call: APIKey) throws -> (ProgramWorkplace, NetworkProxy, direct: String) {
        let cluster: RealCluster = try #require(RealClusterTrait.cluster)
        let network = try #require(cluster.network)
        let workplace = try ProgramWorkplace("stuck-\(call.rawValue)", topics: .workplace) {
            ($0.partitions, $0.kafka) = (6, [("bootstrap.servers", network.bootstrapServers)])
        }
        let direct = try workplace.copyConfig(as: "direct")
        try workplace.edit("direct/kafka.properties", network.bootstrapServers, cluster.bootstrapServers)
        return (workplace, network, direct)
    }

    @Test(arguments: calls)
    func `a worker stuck in a call gives a joining one its share within 15 s, and nothing piles up in it`(
        call: APIKey
    ) throws {
        let (workplace, network, direct) = try workplace(call)
        func swallow() -> [Int] { (0..<2_000).map { _ in network.plan(NetworkFault(.swallow, call)) } }
        // Some calls are made by a worker that takes partitions over, the others by one that answers requests.
        let early = Self.callsAtStart.contains(call) ? swallow() : []
        let stuck = try workplace.start("run", "--instance", "one")
        try workplace.publish(60)
        if early.isEmpty { #expect(try workplace.drains { stuck.isRunning }) }
        let faults = early.isEmpty ? swallow() : early
        try workplace.publish(60, seed: 2)
        if let watched = Self.watched {
            let first = try Load(stuck, seconds: watched / 3)
            Thread.sleep(forTimeInterval: Double(watched) / 3)
            let last = try Load(stuck, seconds: watched / 3)
            print("\(call): \(first), later \(last)")
            #expect(
                last.threads <= first.threads + Self.ofClients && last.descriptors <= first.descriptors + Self.ofClients
            )
        } else {
            Thread.sleep(forTimeInterval: 3)
        }
        let watch = workplace.drainWatch()
        #expect(try watch.drained().count < 3, "the worker is not stuck")
        let begin = ContinuousClock.now
        let joining = try ProgramProcess(["run", "--config", direct, "--instance", "two"], in: workplace.folder)
        let isShared = try Deadline.wait(15) { try watch.drained().count >= 3 }
        print("\(call): the joining worker's partitions are answered after \(ContinuousClock.now - begin)")
        #expect(isShared, "\(watch.obstacle)\n\(stuck.error)\n\(joining.error)")
        for fault in faults { network.forget(fault) }
        #expect(try workplace.drains { stuck.isRunning && joining.isRunning }, "\(stuck.error)")
        for worker in [stuck, joining] { worker.expectEnd() }
        try workplace.expectClean()
    }
}
