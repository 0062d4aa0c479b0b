import Broker
import BrokerKit
import Kafka
import KafkaKit
import Log
import Member
import Settings
import TestKit
import Testing

/// A member serves its group whatever it waits for, and loses nothing that comes meanwhile.
@Suite(.waiting)
struct LivenessTests {
    /// Kafka's protocol numbers, and an error after which a client asks again.
    private static let (offsetFetch, initProducer): (Int16, Int16) = (9, 22)
    private static let coordinatorLoading: Int32 = 14

    /// Serves while another member joins and takes its share.
    ///
    /// - Parameters:
    ///   - watch: decides that it never will.
    ///   - serve: gives the number of changes that the first member has seen.
    private func shares(
        _ settings: BrokerSettings,
        _ watch: StandstillWatch<Int> = .init(),
        _ serve: () throws -> Int
    ) throws -> (other: Consumer, isShared: Bool) {
        let other = try Consumer(KafkaProperties(settings.properties), topic: settings.topics.requests)
        try other.subscribe()
        var (watch, changes) = (watch, 0)
        while !watch.isStill(changes) {
            if case .change(.assigned(let partitions))? = try other.poll(timeoutMilliseconds: 50) {
                return (other, partitions.count == 2)
            }
            changes = try serve()
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
            let (other, isShared) = try shares(settings) {
                try driver.step(waitMilliseconds: 50)
                return driver.changes.count
            }
            #expect(isShared, "\(driver.changes)")
            #expect(driver.changes.contains(.revoked([0, 1, 2, 3])), "\(driver.changes)")
            try other.close()
            try driver.log.close()
        }
    }

    #if DEBUG
        /// The test above finds it. A healthy member gives its share in two or three seconds.
        @Test func `a planted bug, an assignment that waits for the broker's answers, holds up the group`() throws {
            try withMockTopics { cluster, settings in
                cluster.failRequests(Self.offsetFetch, with: Array(repeating: Self.coordinatorLoading, count: 100_000))
                var settings = settings
                settings.sabotage = .assignmentNotAnswered
                let driver = try LogDriver(.exactlyOnce, settings)
                #expect(try driver.steps { _ in driver.log.isAsking })
                let (other, isShared) = try shares(settings, .init(seconds: 15)) {
                    try driver.step(waitMilliseconds: 50)
                    return driver.changes.count
                }
                #expect(!isShared, "\(driver.changes)")
                try other.close()
                try driver.log.close()
            }
        }
    #endif

    @Test(arguments: LogDelivery.allCases)
    func `a member that takes no records gives a joining member its share`(delivery: LogDelivery) throws {
        try withMockTopics { _, settings in
            #expect(try LogDriver.publish(40, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(delivery, settings)
            #expect(try driver.records(40).records.count == 40)
            #expect(try LogDriver.publish(40, to: "requests", settings.properties).isComplete)
            var revoked: [AssignmentChange] = []
            let (other, isShared) = try shares(settings) {
                guard let change = try driver.log.serve() else { return revoked.count }
                revoked.append(change)
                if case .revoked = change { try driver.log.releaseRevoked() }
                return revoked.count
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
                pause(milliseconds: 260)
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
                pause(milliseconds: 260)
            }
            driver.fail(first, first.outputs(.results))
            try driver.abort()
            let again = try driver.records(40)
            #expect(again.records.count == 40 && again.places.count == 40)
            try driver.log.close()
        }
    }
}
