import Kafka
import Pipeline
import Testing
import Worker

@Suite(.timeLimit(.minutes(2)))
struct MockLogTests {
    private func withTopics(_ body: (MockCluster, BrokerSettings) throws -> Void) throws {
        let fixture = try MockFixture()
        try withExtendedLifetime(fixture) {
            for name in TopicCheckTests.names.all { try fixture.cluster.createTopic(name, partitions: 4) }
            let settings = BrokerSettings(
                properties: fixture.properties(),
                topics: TopicCheckTests.names,
                instanceName: "one",
                membership: .dynamic
            )
            try body(fixture.cluster, settings)
        }
    }

    @Test func `a batch is committed with its outputs, an aborted one comes again, and a restart resumes`() throws {
        try withTopics { _, settings in
            #expect(try LogDriver.publish(100, to: "requests", settings.properties).acknowledged == 100)
            let log = try KafkaRecordLog(atLeastOnce: settings)
            var changes: [AssignmentChange] = []
            let first = try LogDriver.records(100, from: log, changes: &changes)
            #expect(changes == [.assigned([0, 1, 2, 3])])
            let half = first.filter { $0.partition < 2 }
            try log.begin()
            try log.append(half.flatMap { [LogDriver.output(.results, for: $0), LogDriver.output(.ledger, for: $0)] })
            try log.commit(LogDriver.positions(after: half), of: Generation(0))

            // The other half is given up, and only that comes again.
            let rest = first.filter { $0.partition >= 2 }
            try log.begin()
            try log.append(rest.map { LogDriver.output(.results, for: $0) })
            try log.abort()
            let again = try LogDriver.records(rest.count, from: log)
            #expect(
                Set(again.map { [Int64($0.partition), $0.offset] })
                    == Set(rest.map { [Int64($0.partition), $0.offset] })
            )
            let stale = #expect(throws: KafkaFault.self) {
                try log.commit([PartitionPosition(partition: 3, offset: 1_000)], of: Generation(0))
            }
            #expect(stale?.isRecoverable == true)
            try log.close()

            let next = try KafkaRecordLog(atLeastOnce: settings)
            let resumed = try LogDriver.records(rest.count, from: next)
            #expect(resumed.allSatisfy { $0.partition >= 2 } && resumed.count == rest.count)
            try next.close()
            try check(half, in: "results", settings)
            try checkEmpty("ledger", settings)
        }
    }

    /// The outputs of `records` lie on their requests' partitions, with key and headers.
    private func check(_ records: [InboundRecord], in topic: String, _ settings: BrokerSettings) throws {
        var properties = KafkaProperties(settings.properties)
        properties["group.id"] = "check"
        let reader = try Consumer(properties, topic: topic)
        try reader.assign([0, 1].map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        let outputs = try reader.records(records.count)
        #expect(
            Set(outputs.map { $0.value ?? [] })
                == Set(records.map { LogDriver.output(.results, for: $0).value ?? [] })
        )
        for output in outputs {
            #expect(output.key != nil)
            #expect(output.headers.map(\.name) == [bytes("request-id"), bytes("none")])
            #expect(output.headers.last?.value == nil)
        }
    }

    private func checkEmpty(_ topic: String, _ settings: BrokerSettings) throws {
        let reader = try Consumer(KafkaProperties(settings.properties), topic: topic)
        for partition in 0..<4 as Range<Int32> {
            #expect(try reader.watermarks(of: partition, timeoutMilliseconds: 10_000) == Watermarks(low: 0, high: 0))
        }
    }

    @Test func `limits of records and bytes end a round`() throws {
        try withTopics { _, settings in
            #expect(try LogDriver.publish(60, to: "requests", settings.properties).isComplete)
            let log = try KafkaRecordLog(atLeastOnce: settings)
            var changes: [AssignmentChange] = []
            let five = try LogDriver.records(5, from: log, limits: BatchLimits(records: 5), changes: &changes)
            #expect(five.count == 5)
            // Any record is larger than a byte: one ends the round.
            let one = try LogDriver.records(1, from: log, limits: BatchLimits(bytes: 1), changes: &changes)
            #expect(one.count == 1)
            #expect(try LogDriver.records(54, from: log).count == 54)
            #expect(try log.poll(BatchLimits(), waitMilliseconds: 0).records.isEmpty)
            try log.close()
        }
    }

    @Test func `a commit that cannot reach the broker asks for an abort, and the records are done again`() throws {
        try withTopics { cluster, settings in
            var settings = settings
            settings.commitMilliseconds = 300
            settings.abortMilliseconds = 100
            #expect(try LogDriver.publish(20, to: "requests", settings.properties).isComplete)
            let log = try KafkaRecordLog(atLeastOnce: settings)
            let records = try LogDriver.records(20, from: log)
            // Partition counts are known from an earlier batch.
            try log.begin()
            try log.append([LogDriver.output(.results, for: records[0])])
            try log.commit([], of: Generation(0))
            try cluster.setBroker(1, isUp: false)
            try log.begin()
            try log.append(records.map { LogDriver.output(.results, for: $0) })
            let fault = #expect(throws: KafkaFault.self) {
                try log.commit(LogDriver.positions(after: records), of: Generation(0))
            }
            #expect(fault?.isRecoverable == true)
            try log.abort()
            try cluster.setBroker(1, isUp: true)
            let again = try LogDriver.records(20, from: log)
            try log.begin()
            try log.append(again.map { LogDriver.output(.results, for: $0) })
            #expect(throws: Never.self) { try retryingCommit(log, LogDriver.positions(after: again)) }
            try log.close()
        }
    }

    /// The clients come back in their own time.
    private func retryingCommit(_ log: KafkaRecordLog, _ positions: [PartitionPosition]) throws {
        for _ in 0..<50 {
            do {
                return try log.commit(positions, of: Generation(0))
            } catch let fault as KafkaFault {
                guard fault.isRecoverable else { throw fault }
            }
        }
        try log.commit(positions, of: Generation(0))
    }
}
