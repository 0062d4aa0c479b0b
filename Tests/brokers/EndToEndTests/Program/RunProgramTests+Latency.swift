import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaPorts
import Streams
import Testing

extension RunProgramTests {
    /// Far below the batch's window, and far above what a busy machine adds to the best of several tries.
    private static let window = 2_000

    @Test func `a lone request is answered at once, however long batch.milliseconds is`() throws {
        let workplace = try ProgramWorkplace("lone") { $0.members = "\"batch\": {\"milliseconds\": \(Self.window)}," }
        let all = try workplace.simulated(devices: 1, records: 40)
        let worker = try workplace.start("run", "--instance", "one")
        try workplace.put([all[0]])
        #expect(try workplace.hasOutcomes(1, of: [worker]), "\(worker.error)")
        let times = try RoundTrips(workplace).measure(Array(all.dropFirst()), pause: 30_000)
        worker.expectEnd()
        let best = try #require(times.first)
        print("produce to result: best \(best), median \(times[times.count / 2])")
        #expect(best < .milliseconds(Self.window / 10), "\(times)")
    }
}

/// Produces requests one at a time, each after the answer of the one before, and times them.
private struct RoundTrips {
    private let workplace: ProgramWorkplace
    private let producer: Producer
    private let results: Consumer

    init(_ workplace: ProgramWorkplace) throws {
        self.workplace = workplace
        producer = try Producer(workplace.properties.completed(defaults: [("linger.ms", "0")]))
        results = try Consumer(workplace.properties, topic: workplace.topic("results"))
        try results.assign(
            (0..<workplace.partitions).map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) }
        )
    }

    /// - Returns: the times, the shortest first.
    func measure(_ records: [InboundRecord], pause: UInt32) throws -> [Duration] {
        // What was answered before.
        try expectResult()
        return try records.map { record in
            usleep(pause)
            let start = ContinuousClock.now
            try producer.produce(
                topic: workplace.requests,
                partition: Partitioner.murmur2.partition(of: record.key ?? [], count: workplace.partitions),
                key: record.key,
                value: record.value,
                headers: record.headers
            )
            try expectResult()
            return ContinuousClock.now - start
        }
        .sorted()
    }

    private func expectResult() throws {
        let isThere = Deadline.wait(30) {
            guard case .record? = results.poll(waiting: 5_000) else { return false }
            return true
        }
        #expect(isThere, "no result came")
    }
}
