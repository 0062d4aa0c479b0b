import Broker
import BrokerKit
import Foundation
import Kafka
import Pipeline
import Testing

extension RunProgramTests {
    @Test(arguments: [(false, 1), (true, 1), (false, 2)])
    func `added partitions end a run in order, with one line, and nothing is judged by the old count`(
        ofAllTopics: Bool,
        loops: Int
    ) throws {
        let workplace = try ProgramWorkplace("grown-\(ofAllTopics)-\(loops)") { $0.members = #""loops": \#(loops),"# }
        try workplace.rewrite("kafka.properties") { $0 + "topic.metadata.refresh.interval.ms=1000\n" }
        let broker = try #require(RealClusterTrait.cluster)
        try workplace.simulate(devices: 5, records: 50)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(try workplace.hasOutcomes(50, of: [worker]), "\(worker.error)")
        let outputs = ProgramWorkplace.streams.dropFirst().map(workplace.topic)
        try broker.addPartitions(5, to: (ofAllTopics ? outputs : []) + [workplace.requests])
        try workplace.put((3..<5 as Range<Int32>).map { PublishRecord(key: [], value: [], partition: $0) })
        #expect(worker.waitForEnd() == .exit(1))
        // Beside faults of a loaded machine that were ridden out before.
        let lines = worker.error.split(separator: "\n")
        let said = "has 5 partitions, but the worker was started with 3: "
        #expect(lines.count { $0.contains(said) } == 1 && lines.last?.contains(said) == true, "\(worker.error)")
        #expect(worker.error.contains("and do not move there: move the keys"))
        #expect(try Outcomes(of: workplace).counts == ["accepted": 50])
    }

    /// nil = no second signal.
    @Test(arguments: [nil, SIGTERM, SIGINT] as [Int32?])
    func `a signal ends a run without a broker in time, a second one at once, and nothing is lost`(
        second: Int32?
    ) throws {
        let workplace = try ProgramWorkplace("left-\(second ?? 0)") { $0.members = #""batch": {"records": 5},"# }
        let broker = try #require(RealClusterTrait.cluster)
        // So many that the worker is not done before the broker stands still.
        try workplace.simulate(devices: 20, records: 1_200)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(try workplace.hasOutcomes(1, of: [worker]))
        do {
            // The broker answers no more: batches in flight can neither be written nor committed.
            try broker.pause()
            defer { try? broker.resume() }
            worker.signal(SIGTERM)
            if let second {
                usleep(500_000)
                #expect(worker.isRunning, "it waits for the broker: \(worker.error)")
                worker.signal(second)
                #expect(worker.waitForEnd(seconds: 10) == .exit(128 + second))
            } else {
                // 1 where the program ended during a call to the broker.
                #expect([.exit(0), .exit(1)].contains(worker.waitForEnd(seconds: 10)))
                #expect(worker.error.contains("leaving without the last commit"), "\(worker.error)")
            }
        }
        _ = try workplace.work(until: 1_200)
        #expect(try Outcomes(of: workplace).counts == ["accepted": 1_200])
    }
}
