import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaPorts
import Streams
import Testing

extension RunProgramTests {
    @Test func `a lone request is answered at once, however long batch.milliseconds is`() throws {
        let workplace = try ProgramWorkplace("lone") { $0.members = #""batch": {"milliseconds": 5000},"# }
        let all = try workplace.simulated(devices: 1, records: 40)
        let producer = try Producer(workplace.properties.completed(defaults: [("linger.ms", "0")]))
        let results = try Consumer(workplace.properties, topic: workplace.topic("results"))
        try results.assign(
            (0..<workplace.partitions).map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) }
        )
        let worker = try workplace.start("run", "--instance", "one")
        let times = try all.map { record in
            // An idle worker's poll waits for the whole window.
            usleep(30_000)
            let start = ContinuousClock.now
            try producer.produce(
                topic: workplace.requests,
                partition: Partitioner.murmur2.partition(of: record.key ?? [], count: workplace.partitions),
                key: record.key,
                value: record.value,
                headers: record.headers
            )
            let isAnswered = Deadline.wait(60) {
                guard case .record? = results.poll(waiting: 5_000) else { return false }
                return true
            }
            #expect(isAnswered, "\(worker.error)")
            return ContinuousClock.now - start
        }
        worker.expectEnd()
        let best = try #require(times.min())
        print("produce to result: best \(best), median \(times.sorted()[times.count / 2])")
        // Far below the batch's window, and far above what a busy machine adds to the best of several tries.
        #expect(best < .milliseconds(200), "\(times)")
    }
}
