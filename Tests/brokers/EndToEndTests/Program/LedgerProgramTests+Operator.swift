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
    @Test func `a ban, its end and a forgotten key reach a running worker, and outlive it`() throws {
        let workplace = try ProgramWorkplace("operated") { $0.membership = "dynamic" }
        let all = try workplace.simulated(devices: 2, records: 40)
        let key = try #require(all.first?.key)
        let keyID = String(decoding: key, as: UTF8.self)
        let others = all.filter { $0.key != key }
        var (own, story) = (all.filter { $0.key == key }, [String]())
        func send(_ expected: String) throws {
            try workplace.put([own.removeFirst()])
            story.append(expected)
        }
        func command(_ verb: String, _ arguments: String...) throws {
            let said = try workplace.done(verb, ["--key-id", keyID, "--wait"] + arguments).output
            #expect(said.contains("\(verb) of key \(keyID) written") && said.hasSuffix(": accepted\n"), "\(said)")
            story.append("accepted")
        }
        try workplace.put(others)
        var worker = try workplace.start("run", "--instance", "one")
        #expect(try workplace.hasOutcomes(others.count, of: [worker]), "\(worker.error)")
        try send("accepted")
        try command("ban")
        try send("banned")
        #expect(try workplace.exported().contains("\"banned\":{\"since\":"))
        try command("unban")
        try send("accepted")
        #expect(try workplace.exported().contains(keyID))
        try command("ban")
        try command("forget", "--keep-ban")
        try send("banned")
        #expect(try !workplace.exported().contains(keyID))
        worker.expectEnd()
        #expect(try workplace.start("export-keys").saidInTheEnd("the bans of 1 key"))

        worker = try workplace.start("run", "--instance", "one")
        try command("unban")
        let rest = try workplace.exported()
        #expect(rest.split(separator: "\n").count == 1 && !rest.contains(keyID), "still forgotten")
        try send("unknown-key")
        #expect(try workplace.hasOutcomes(others.count + story.count, of: [worker]))
        worker.expectEnd()
        let outcomes = try Outcomes(of: workplace)
        let told = outcomes.requests.filter { $0.value.key == key }.keys.sorted().compactMap { outcomes.summaries[$0] }
        #expect(told == story)
    }

    @Test func `an installation's ban reaches each partition; a key's ban survives export, reset and import`() throws {
        let workplace = try ProgramWorkplace("banned") { $0.membership = "dynamic" }
        let all = try workplace.simulated(devices: 4, records: 24)
        let (before, after) = (Array(all[..<12]), Array(all[12...]))
        let banned = try #require(before.first?.key)
        try workplace.put(before)
        // No worker runs: the commands wait for one in the topic.
        try workplace.done("ban", "--key-id", String(decoding: banned, as: UTF8.self))
        let said = try workplace.done("ban", "--installation", "fid-1").output
        #expect(said.contains("3 partitions") && said.contains("operator-") && !said.contains("fid-1"), "\(said)")
        _ = try workplace.work(until: 16)
        #expect(try Outcomes(of: workplace).counts == ["accepted": 16])
        let exported = try workplace.exported()
        try workplace.done("reset", "--yes")
        #expect(try workplace.exported() == "")
        let imported = try workplace.importKeys(exported)
        #expect(imported.waitForEnd() == .exit(0), "\(imported.error)")
        #expect(try workplace.exported() == exported)
        #expect(try workplace.importKeys(exported).output.contains(" 4 unchanged"))
        try workplace.put(
            after.map { record in
                var record = record
                record.headers.append(RecordHeader("installation-id", record.key == banned ? "fid-2" : "fid-1"))
                return record
            }
        )
        _ = try workplace.work(until: 28)
        let counts = try Outcomes(of: workplace).counts
        // A reset forgets everything, installations too: of the bans only the imported one is left.
        #expect(
            counts["banned"] == after.count { $0.key == banned } && counts["accepted"] == 28 - (counts["banned"] ?? 0)
        )
    }

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

extension ProgramProcess {
    /// Whether it ends with exit code 0 and has said this on standard error.
    fileprivate func saidInTheEnd(_ text: String) -> Bool { waitForEnd() == .exit(0) && error.contains(text) }
}
