import Broker
import Glibc
import Kafka
import Log
import Settings
import TestKit
import Testing

/// A member serves its group whatever it waits for, and loses nothing that comes meanwhile.
@Suite(.waiting, .timeLimit(.minutes(20)))
struct LivenessTests {
    /// Kafka's protocol numbers, and an error after which a client asks again.
    private static let (offsetFetch, initProducer): (Int16, Int16) = (9, 22)
    private static let coordinatorLoading: Int32 = 14

    /// Serves while another member joins and takes its share, for at most `seconds`.
    private func shares(
        _ settings: BrokerSettings,
        seconds: Int = 40,
        _ serve: () throws -> Void
    ) throws -> (other: Consumer, isShared: Bool) {
        let other = try Consumer(KafkaProperties(settings.properties), topic: settings.topics.requests)
        try other.subscribe()
        let deadline = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < deadline {
            if case .change(.assigned(let partitions))? = try other.poll(timeoutMilliseconds: 50) {
                return (other, partitions.count == 2)
            }
            try serve()
        }
        return (other, false)
    }

    /// Earlier versions polled without answering, and held up the group for as long as they asked.
    @Test(arguments: [true, false])
    func `a member whose requests are not answered gives a joining member its share`(asksOffsets: Bool) throws {
        try withMockTopics { cluster, settings in
            cluster.failRequests(
                asksOffsets ? Self.offsetFetch : Self.initProducer,
                with: Array(repeating: Self.coordinatorLoading, count: 100_000)
            )
            let driver = try LogDriver(.exactlyOnce, settings)
            let isAnswered = try driver.steps { _ in driver.log.isAsking }
            #expect(isAnswered && driver.changes.isEmpty)
            let (other, isShared) = try shares(settings, seconds: 90) { try driver.step(waitMilliseconds: 50) }
            #expect(isShared, "\(driver.changes)")
            #expect(driver.changes.contains(.revoked([0, 1, 2, 3])), "\(driver.changes)")
            try other.close()
            try driver.log.close()
        }
    }

    #if DEBUG
        /// The test above finds it: twice the 15 s in which a healthy member gives its share.
        @Test func `a planted bug, an assignment that waits for the broker's answers, holds up the group`() throws {
            try withMockTopics { cluster, settings in
                cluster.failRequests(Self.offsetFetch, with: Array(repeating: Self.coordinatorLoading, count: 100_000))
                var settings = settings
                settings.sabotage = .assignmentNotAnswered
                let driver = try LogDriver(.exactlyOnce, settings)
                #expect(try driver.steps { _ in driver.log.isAsking })
                let (other, isShared) = try shares(settings, seconds: 30) { try driver.step(waitMilliseconds: 50) }
                #expect(!isShared, "\(driver.changes)")
                try other.close()
                try driver.log.close()
            }
        }
    #endif

    @Test(arguments: Delivery.allCases)
    func `a member that takes no records gives a joining member its share`(delivery: Delivery) throws {
        try withMockTopics { _, settings in
            #expect(try LogDriver.publish(40, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(delivery, settings)
            #expect(try driver.records(40).records.count == 40)
            #expect(try LogDriver.publish(40, to: "requests", settings.properties).isComplete)
            var revoked: [AssignmentChange] = []
            let (other, isShared) = try shares(settings) {
                guard let change = try driver.log.serve() else { return }
                revoked.append(change)
                if case .revoked = change { try driver.log.releaseRevoked() }
            }
            #expect(isShared && revoked.first == .revoked([0, 1, 2, 3]), "\(revoked)")
            try other.close()
            try driver.log.close()
        }
    }

    @Test func `records that arrive while the group is served are handed out in order, each once`() throws {
        try withMockTopics { _, settings in
            #expect(try LogDriver.publish(4, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(.exactlyOnce, settings)
            var batch = try driver.records(4)
            #expect(try LogDriver.publish(60, to: "requests", settings.properties).isComplete)
            for _ in 0..<8 {
                #expect(try driver.log.serve() == nil)
                usleep(260_000)
            }
            batch.records += try driver.records(60).records
            #expect(batch.records.count == 64 && batch.places.count == 64)
            for partition in 0..<4 as Range<Int32> {
                let offsets = batch.records.filter { $0.partition == partition }.map(\.offset)
                #expect(offsets == Array(0..<Int64(offsets.count)))
            }
            try driver.commit(batch, batch.outputs(.results))
            try driver.log.close()
        }
    }

    @Test func `records kept for the batch after an aborted one are read again from the committed offset`() throws {
        try withMockTopics { _, settings in
            #expect(try LogDriver.publish(40, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(.exactlyOnce, settings)
            let first = try driver.records(10, limits: BatchLimits(records: 10))
            for _ in 0..<4 {
                #expect(try driver.log.serve() == nil)
                usleep(260_000)
            }
            try driver.log.unit.begin()
            try driver.log.unit.append(first.outputs(.results))
            try driver.abort()
            let again = try driver.records(40)
            #expect(again.records.count == 40 && again.places.count == 40)
            try driver.log.close()
        }
    }
}
