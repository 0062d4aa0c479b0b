import AppAttest
import Broker
import BrokerKit
import Foundation
import JSON
import Kafka
import KafkaKit
import Pipeline
import Streams
import Testing

@testable import Commands

extension ProgramWorkplace {
    fileprivate func deadLetters() throws -> Int { try records(of: topic("dead-letters")).count }
}

extension LedgerProgramTests {
    @Test func `dead letters are requeued once each, by reason, in portions, and after a crash`() throws {
        let workplace = try ProgramWorkplace("requeued") { $0.membership = "dynamic" }
        let key = Array("a key".utf8)
        let header = [RecordHeader("request-id", "own")]
        try workplace.put(
            (0..<3).flatMap { number in
                [
                    PublishRecord(key: key, value: Array("junk \(number)".utf8), headers: number == 0 ? header : []),
                    PublishRecord(key: key, value: nil), PublishRecord(key: nil, value: nil, partition: 2),
                ]
            } + [PublishRecord(key: key, value: [UInt8](repeating: 0xFF, count: 999_000))]
        )
        _ = try workplace.work(until: 10)
        let sent = try workplace.records(of: workplace.requests)
        try #require(sent.count == 10 && (try workplace.deadLetters()) == 10)
        func requeue(_ arguments: String..., expect text: String) throws {
            let process = try workplace.done("requeue", arguments)
            #expect(process.output.contains(text), "\(process.output)")
        }
        try requeue(expect: "nothing was changed; --yes carries out the plan")
        #expect(try workplace.records(of: workplace.requests).count == 10)
        // A command that died in the middle: its requests are never read, and the next one takes over at once.
        let dead = try TransactionClient(workplace.properties, transactionalID: workplace.group + "-requeue")
        try dead.initTransactions(limit: 10_000)
        try dead.begin()
        try dead.producer.produce(topic: workplace.requests, partition: 0, key: nil, value: [0x7B])
        try dead.flush(timeoutMilliseconds: 10_000)
        try requeue("--reason", "null-value", "--limit", "2", "--yes", expect: "done: 2 letters requeued")
        try requeue("--reason", "null-value", "--yes", expect: "done: 4 letters requeued")
        try requeue("--reason", "null-value", "--yes", expect: "nothing to do")
        try requeue("--since", "2100-01-01T00:00:00Z", "--yes", expect: "nothing to do")
        let rest = try workplace.start("requeue", "--yes")
        #expect(rest.waitForEnd() == .exit(0) && rest.output.contains("done: 3 letters requeued"), "\(rest.output)")
        #expect(rest.error.contains("cannot be requeued: its value was left out"), "\(rest.error)")
        try requeue("--yes", expect: "nothing to do")

        let again = try workplace.records(of: workplace.requests).filter { new in
            !sent.contains { $0.partition == new.partition && $0.offset == new.offset }
        }
        #expect(again.count == 9)
        let junk = again.filter { $0.value != nil }
        #expect(junk.map { $0.value.map { String(decoding: $0, as: UTF8.self) } } == ["junk 0", "junk 1", "junk 2"])
        #expect(junk.allSatisfy { $0.key == key && $0.headers.count == 1 })
        // Each has the id under which it was a dead letter.
        let ids = Set(again.flatMap(\.headers).map { String(decoding: $0.value ?? [], as: UTF8.self) })
        let places = sent.filter { ($0.value?.count ?? 0) < 1_000 && $0.headers.isEmpty }
            .map { "\(workplace.requests)/\($0.partition)/\($0.offset)" }
        #expect(ids == Set(places + ["own"]))
        // Their cause remains: they are new dead letters, which the next plan has.
        _ = try workplace.work(until: 19)
        try requeue(expect: "9 letters were requeued before")
    }
}
