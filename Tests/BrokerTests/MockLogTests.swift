import Broker
import BrokerKit
import Kafka
import KafkaKit
import KafkaPorts
import Log
import Settings
import TestKit
import Testing

@Suite(.waiting)
struct MockLogTests {
    @Test(arguments: LogDelivery.allCases)
    func `a batch is committed with its outputs, an aborted one is read again, and a restart resumes`(
        delivery: LogDelivery
    ) throws {
        try withMockTopics { _, settings in
            #expect(try LogDriver.publish(100, to: "requests", settings.properties).acknowledged == 100)
            let driver = try LogDriver(delivery, settings)
            let first = try driver.records(100)
            #expect(driver.changes == [.assigned([0, 1, 2, 3])])
            #expect(driver.restored == [[]])
            let half = first.filter { $0.partition < 2 }
            try driver.commit(half, half.outputs(.results, .ledger))

            // The other half is aborted, and only that half is delivered again.
            let rest = first.filter { $0.partition >= 2 }
            try driver.log.unit.begin()
            try driver.log.unit.append(rest.outputs(.results))
            try driver.log.unit.abort()
            let again = try driver.records(rest.records.count)
            #expect(again.places == rest.places)
            let stale = #expect(throws: KafkaFault.self) {
                try driver.log.unit.begin()
                try driver.log.unit.commit([PartitionPosition(partition: 3, offset: 1_000)], of: again.generation)
            }
            #expect(stale?.isRecoverable == true && stale?.requiresAbort == true)
            try driver.log.close()

            let next = try LogDriver(delivery, settings)
            let resumed = try next.gather { $0.records.count >= rest.records.count && !next.restored.isEmpty }
            #expect(resumed.places == rest.places)
            // The mock cluster shows aborted records too, and the aborted units wrote none to the ledger.
            #expect(next.restored.map(\.count) == [half.records.count])
            try next.log.close()
            try check(half.records, in: "results", settings)
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

    @Test(arguments: LogDelivery.allCases)
    func `a partition where nothing is there counts as read once its leader has answered`(
        delivery: LogDelivery
    ) throws {
        try withMockTopics { _, settings in
            let driver = try LogDriver(delivery, settings)
            // Only an answer of its leader gives an empty partition a position.
            let all = try driver.gather { _ in driver.log.sight().positions.count == 4 }
            #expect(all.records.isEmpty && driver.changes == [.assigned([0, 1, 2, 3])])
            #expect(driver.log.sight().unread == [])
            try driver.log.close()
        }
    }

    @Test(arguments: LogDelivery.allCases)
    func `record and byte limits end a round`(delivery: LogDelivery) throws {
        try withMockTopics { _, settings in
            #expect(try LogDriver.publish(60, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(delivery, settings)
            #expect(try driver.records(5, limits: BatchLimits(records: 5)).records.count == 5)
            // Any record is larger than a byte: one ends the round.
            #expect(try driver.records(1, limits: BatchLimits(bytes: 1)).records.count == 1)
            #expect(try driver.records(54).records.count == 54)
            #expect(try driver.log.poll(BatchLimits(), waitMilliseconds: 0).records.isEmpty)
            try driver.log.close()
        }
    }

    @Test(arguments: LogDelivery.allCases)
    func `an oversized output is the record's fault, and the work continues without it`(delivery: LogDelivery) throws {
        try withMockTopics { _, settings in
            var settings = settings
            settings.properties.append(("message.max.bytes", "2000"))
            #expect(try LogDriver.publish(20, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(delivery, settings)
            let batch = try driver.records(20)
            var outputs = batch.outputs(.results)
            outputs[7].value = [UInt8](repeating: 7, count: 3_000)
            let fault = #expect(throws: KafkaFault.self) { try driver.commit(batch, outputs) }
            #expect(fault?.isRecordFault == true && fault?.endsLoop == false)
            try driver.abort()
            let again = try driver.records(20)
            #expect(again.places == batch.places)
            try driver.commit(again, again.outputs(.results))
            try driver.log.close()
        }
    }

    @Test(arguments: LogDelivery.allCases)
    func `a commit that cannot reach the broker requires an abort, and the records are processed again`(
        delivery: LogDelivery
    ) throws {
        try withMockTopics { cluster, settings in
            var settings = settings
            settings.commitMilliseconds = 3_000
            settings.abortMilliseconds = 100
            #expect(try LogDriver.publish(20, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(delivery, settings)
            let batch = try driver.records(20)
            // Partition counts are known from an earlier batch.
            try driver.commit(
                LogBatch(generation: batch.generation),
                [LogDriver.output(.results, for: batch.records[0])]
            )
            try cluster.setBroker(1, isUp: false)
            let fault = #expect(throws: KafkaFault.self) { try driver.commit(batch, batch.outputs(.results)) }
            #expect(fault?.isRecoverable == true)
            try cluster.setBroker(1, isUp: true)
            try driver.abort()
            // The clients reconnect in their own time.
            var isCommitted = false
            for _ in 0..<50 where !isCommitted {
                let again = try driver.records(20)
                #expect(again.places == batch.places)
                do {
                    try driver.commit(again, again.outputs(.results))
                    isCommitted = true
                } catch let fault as KafkaFault where fault.isRecoverable {
                    try driver.abort()
                }
            }
            #expect(isCommitted)
            try driver.log.close()
        }
    }

    /// EndTxn in Kafka's protocol, and a broker's answer to a producer whose epoch is over.
    private static let (endTransaction, invalidProducerEpoch): (Int16, Int32) = (26, 47)

    /// The only way to see a change after the records of a round: a member joins while the round is collected.
    @Test(arguments: LogDelivery.allCases)
    func `partitions revoked after the records of an aborted batch are not assigned again`(delivery: LogDelivery) throws
    {
        try withMockTopics { cluster, settings in
            #expect(try LogDriver.publish(20, to: "requests", settings.properties).isComplete)
            let driver = try LogDriver(delivery, settings)
            // One alone: from here on records lie ready, and reading them takes no time.
            #expect(try driver.records(1, limits: BatchLimits(records: 1)).records.count == 1)
            var other = settings
            other.instanceName = "two"
            let second = try LogDriver(delivery, other)
            var long = BatchLimits()
            long.milliseconds = 30_000
            let round = try driver.log.poll(long, waitMilliseconds: 30_000)
            #expect(!round.records.isEmpty)
            #expect(round.change == nil)
            let batch = LogBatch(
                records: round.records.compactMap { $0.take() },
                generation: round.generation
            )
            try driver.log.unit.begin()
            try driver.log.unit.append(batch.outputs(.results))
            if delivery == .exactlyOnce {
                // It is then unknown whether the batch was committed, as it always is at least once.
                cluster.failRequests(Self.endTransaction, with: [Self.invalidProducerEpoch])
                #expect(throws: KafkaFault.self) { try driver.log.unit.commit(batch.positions, of: batch.generation) }
            }
            try driver.abort()
            _ = try driver.steps { _ in
                try second.step()
                return driver.changes.count >= 3
            }
            #expect(driver.changes.prefix(2).map(\.isAssignment) == [true, false])
            guard case .assigned(let partitions)? = driver.changes.dropFirst(2).first else {
                Issue.record("no partitions came back: \(driver.changes)")
                return
            }
            #expect(partitions.count == 2, "two members share four partitions")
            try driver.log.close()
            try second.log.close()
        }
    }

    @Test
    func `a record that arrives during a restore of ledgers is read again`() throws {
        try withMockTopics { _, settings in
            let driver = try LogDriver(.exactlyOnce, settings)
            #expect(try LogDriver.publish(100, to: "requests", settings.properties).isComplete)
            #expect(try driver.records(100).records.count == 100)
            #expect(try LogDriver.publish(100, to: "requests", settings.properties).isComplete)
            // Partitions are paused during a restore; here they are being read, so that records do come.
            for _ in 0..<10 {
                try driver.log.beginRestore([0, 1, 2, 3], kept: [])
                var completed: [Int32] = []
                while completed.count < 4 {
                    let round = try driver.log.restore(10, waitMilliseconds: 20)
                    for partition in round.completed {
                        _ = try driver.log.start(partition, mark: nil, ledgerIsEmpty: true)
                    }
                    completed += round.completed
                }
                #expect(completed.sorted() == [0, 1, 2, 3])
            }
            #expect(try driver.records(100).records.count == 100)
            try driver.log.close()
        }
    }
}

extension AssignmentChange {
    fileprivate var isAssignment: Bool { if case .assigned = self { true } else { false } }
}
