import BrokerKit
import Foundation
import JSON
import Kafka
import KafkaKit
import Pipeline
import TestKit
import Testing

extension RunProgramTests {
    @Test func `rollout reads every committed event of the topic, and no aborted one`() throws {
        let workplace = try ProgramWorkplace("rollout")
        try workplace.rewrite("apps.json") {
            $0.replacing(#"{"mode": "off"}"#, with: #"{"mode": "on", "percent": 10}"#)
        }
        let empty = try workplace.done("rollout", "--json")
        #expect(try Self.tally(empty)["successes"]?.integer == 0)
        let app = "projects/lab-project/apps/1:123456789012:ios:0123456789abcdef"
        let producer = try TransactionClient(workplace.properties, transactionalID: "rollout-test")
        try producer.initTransactions(limit: 30_000)
        for isCommitted in [true, false, true] {
            try producer.begin()
            for index in 0..<300 {
                let event = index % 100 == 0 ? MadeEvent.failure("bad-nonce") : MadeEvent()
                var made = event
                made.app = app
                try producer.producer.produce(
                    topic: workplace.topic("events"),
                    partition: Int32(index) % workplace.partitions,
                    key: nil,
                    value: made.value,
                    headers: []
                )
            }
            try producer.flush(timeoutMilliseconds: 30_000)
            if isCommitted {
                try producer.commit(limit: 30_000)
            } else {
                try producer.abort(limit: 30_000)
            }
        }
        let full = try workplace.done("rollout", "--json")
        let tally = try Self.tally(full)
        #expect(tally["successes"]?.integer == 594 && tally["failures"]?.integer == 6)
        #expect(tally["mayGrow"]?.bool == true)
        let strict = try workplace.done("rollout", "--max-failure-rate", "0.99")
        #expect(strict.output.contains("no: 1.00 % of 600 attestations failed, over 0.99 %"), "\(strict.output)")
    }

    private static func tally(_ process: ProgramProcess) throws -> JSONNode {
        let root = try JSONDocument(parsing: Array(process.output.utf8)).root
        return try #require(root["apps"]?.elements.first)
    }
}
