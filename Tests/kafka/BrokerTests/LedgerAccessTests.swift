import Broker
import Kafka
import KafkaKit
import KafkaPorts
import Settings
import TestKit
import Testing

/// What the commands ask a broker.
@Suite(.waiting)
struct LedgerAccessTests {
    @Test func `a question is repeated while its fault may pass`() throws {
        var left = 2
        let answer = try BrokerRetry.ask { () throws(KafkaFault) -> Int in
            guard left == 0 else {
                left -= 1
                throw .timedOut("slow")
            }
            return 7
        }
        #expect(answer == 7)
    }

    @Test(arguments: [
        (KafkaFault.timedOut("late"), Duration.zero), (.fatal("gone"), .seconds(30)), (.invalid("wrong"), .seconds(30)),
        (.timedOut("aborted", requiresAbort: true), .seconds(30)),
    ])
    func `a question is asked once if its fault does not pass, or the time is up`(fault: KafkaFault, limit: Duration) {
        var asked = 0
        #expect(throws: fault) {
            try BrokerRetry.ask(for: limit) { () throws(KafkaFault) in
                asked += 1
                throw fault
            }
        }
        #expect(asked == 1)
    }

    @Test func `a question about new topics is repeated while they may be on their way`() throws {
        var faults: [any Error] = [
            CommandFault("no such topic: a"), KafkaFault(.notLeaderForPartition, "moved"),
            KafkaFault(.unknownTopicOrPart, "unknown"),
        ]
        let answer = try BrokerRetry.askEarly { () -> Int in
            if let fault = faults.popLast() { throw fault }
            return 7
        }
        #expect(answer == 7 && faults.isEmpty)
    }

    @Test(
        arguments: [
            (CommandFault("no such topic: a"), Duration.zero), (KafkaFault(.notLeaderForPartition, "moved"), .zero),
            (KafkaFault(.topicAuthorizationFailed, "refused"), .seconds(30)),
            (ConfigurationFault("wrong"), .seconds(30)),
        ] as [(any Error, Duration)]
    )
    func `such a question is asked once if its fault does not pass, or the time is up`(
        fault: any Error,
        limit: Duration
    ) {
        var asked = 0
        #expect {
            try BrokerRetry.askEarly(for: limit) {
                asked += 1
                throw fault
            }
        } throws: { "\($0)" == "\(fault)" }
        #expect(asked == 1)
    }

    @Test func `a broker's fault becomes one sentence, and any other fault stays what it is`() {
        let fault = KafkaFault.invalid("no such property")
        #expect(throws: CommandFault("cannot look: no such property.")) {
            try CommandFault.explaining("cannot look") { throw fault }
        }
        #expect(throws: CommandFault("cannot look: \(fault).")) {
            try CommandFault.explaining("cannot look", by: \.description) { throw fault }
        }
        #expect(throws: CommandFault("mine")) {
            try CommandFault.explaining("cannot look") { throw CommandFault("mine") }
        }
        #expect(throws: ConfigurationFault("kafka.properties: no such property.")) {
            try ConfigurationFault.explaining { () throws(KafkaFault) in throw fault }
        }
    }

    @Test func `a topic's partitions are counted, and an absent topic is named`() throws {
        try withMock(partitions: 3) { fixture in
            let counts = try PartitionCounts(Admin(KafkaProperties(fixture.properties())))
            #expect(try counts.count(of: MockFixture.topic) == 3)
            #expect(throws: CommandFault("no such topic: none; create it with attest-worker create-topics.")) {
                try counts.count(of: "none")
            }
        }
    }

    @Test(arguments: [nil, [0, 2]] as [Set<Int32>?])
    func `a scan reads the chosen partitions to their ends`(chosen: Set<Int32>?) throws {
        try withMock(partitions: 4) { fixture in
            let producer = try fixture.producer()
            for number in 0..<30 as Range<UInt8> {
                try producer.put([number], to: Int32(number % 3))
            }
            try producer.flush(timeoutMilliseconds: .noLimit)
            let reader = try fixture.topicReader()
            let scan = try TopicScan(reader, partitions: 4, only: chosen, timeBudget: .seconds(60))
            let ends = try scan.ends()
            #expect(ends.map(\.high) == [10, 10, 10, 0])
            var read: [Int32: Int] = [:]
            try scan.read(upTo: ends) { read[$0.partition, default: 0] += 1 }
            #expect(read == (chosen == nil ? [0: 10, 1: 10, 2: 10] : [0: 10, 2: 10]))
        }
    }

    @Test func `a scan whose partition does not move gives up and names it, whatever comes on another`() throws {
        try withMock(partitions: 2) { fixture in
            let producer = try fixture.producer()
            func write() throws {
                try producer.put([1])
                try producer.flush(timeoutMilliseconds: .noLimit)
            }
            try write()
            let scan = try TopicScan(fixture.topicReader(), partitions: 2, timeBudget: .seconds(1))
            let ends = [Watermarks(low: 0, high: 0), Watermarks(low: 0, high: 5)]
            // A scan that follows the topic's end would never return while a producer writes.
            var records = 0
            let fault = #expect(throws: TopicScan.Standstill.self) {
                try scan.read(upTo: ends) { _ in
                    records += 1
                    guard records < 100_000 else { throw CommandFault("it still waits") }
                    try write()
                }
            }
            #expect(fault?.partition == 1)
        }
    }
}
