import AppAttest
import AppCheck
import Broker
import BrokerKit
import Foundation
import JSON
import Kafka
import KafkaKit
import KafkaPorts
import Pipeline
import Settings
import Streams
import TestKit
import Testing

@testable import Commands

extension ProgramWorkplace {
    /// Writes a KEYS file and imports it.
    func importKeys(_ text: String) throws -> ProgramProcess {
        try write(text, to: "KEYS")
        let process = try start("import-keys", "--input", file("KEYS"))
        try #require(process.waitForEnd() != nil, "\(process.error)")
        return process
    }

    /// What `export-keys` writes.
    func exported() throws -> String { try done("export-keys").output }

    /// Puts records onto the ledger topic without a worker.
    func putLedger(_ records: [StoredRecord]) throws {
        let records = records.map { PublishRecord(key: $0.key, value: $0.value, partition: $0.partition) }
        try put(records, to: topic("ledger"))
    }

    /// The ledger topic's keys that have a value, by partition.
    func liveLedgerKeys() throws -> [Int32: Set<[UInt8]>] {
        var live: [Int32: Set<[UInt8]>] = [:]
        for record in try records(of: topic("ledger")) {
            let key = try #require(record.key)
            if record.value == nil {
                live[record.partition]?.remove(key)
            } else {
                live[record.partition, default: []].insert(key)
            }
        }
        return live.filter { !$0.value.isEmpty }
    }

    var access: LedgerAccess {
        get throws { try LedgerAccess(try Configuration.load(directory: config)) }
    }

    func committed() throws -> [Int64?] {
        try Admin(properties).committedOffsets(
            ofGroup: group,
            topic: requests,
            partitions: Array(0..<partitions)
        ).map(\.offset)
    }
}

extension LedgerProgramTests {
    @Test func `imported keys are exported; another import raises counters, lowers none, and leaves conflicts alone`()
        throws
    {
        let workplace = try ProgramWorkplace("imported") { $0.members = #""partitioner": "crc32","# }
        #expect(try workplace.exported() == "", "nothing is known yet")
        let file = KeySamples.file(KeySamples.variety)
        let first = try workplace.importKeys(file)
        #expect(first.waitForEnd() == .exit(0), "\(first.error)")
        let sums = "8 lines: 6 keys added, 0 updated, 0 unchanged, 0 left as they are, 2 added that can never verify\n"
        #expect(first.output == sums)
        let warnings = first.error.split(separator: "\n")
        #expect(warnings.count == 2 && warnings.allSatisfy { $0.hasPrefix("warning: ") }, "\(first.error)")
        for words in ["line 7: publicKey is not a key", "line 8: publicKey belongs"] {
            #expect(first.error.contains(words), "\(first.error)")
        }
        #expect(try workplace.exported() == KeySamples.sortedFile(KeySamples.variety))
        // Each on the partition of its key's text.
        let all = try workplace.records(of: workplace.topic("ledger"))
        let records = all.filter { $0.key != [4] }
        #expect(all.count == records.count + Int(workplace.partitions), "and a mark for each partition")
        for record in records {
            let key = try #require(KeySamples.variety.first { $0.keyID.bytes == Array((record.key ?? []).dropFirst()) })
            #expect(
                record.partition == Partitioner.crc32.partition(of: key.keyID.recordKey, count: workplace.partitions)
            )
        }
        let again = try workplace.importKeys(try workplace.exported())
        #expect(again.waitForEnd() == .exit(0))
        #expect(again.output == "8 lines: 0 keys added, 0 updated, 8 unchanged, 0 left as they are\n")
        #expect(try workplace.records(of: workplace.topic("ledger")) == all, "not a record more")
        try workplace.done("export-keys", "--output", workplace.file("exported"))
        #expect(try workplace.text("exported") == workplace.exported())

        var expected = KeySamples.variety
        var (foreign, lower) = (expected[1], expected[0])
        (foreign.app, foreign.counter, lower.counter) = ("projects/1/apps/other", 9_999, 5)
        expected[2].counter += 1
        let process = try workplace.importKeys(KeySamples.file([lower, foreign, expected[2]]))
        #expect(process.waitForEnd() == .exit(1), "not every key was taken")
        #expect(process.output == "3 lines: 0 keys added, 1 updated, 1 unchanged, 1 left as they are\n")
        let reason = "the ledger has it bound to \(KeySamples.app)"
        #expect(process.error == "key \(foreign.keyID.text) is left as it is: \(reason)\n")
        #expect(try workplace.exported() == KeySamples.sortedFile(expected))
    }

    @Test func `a key on a partition that the partitioner would not choose stops an import`() throws {
        let workplace = try ProgramWorkplace("stray")
        let key = KeySamples.key(1, counter: 7)
        let home = Partitioner.murmur2.partition(of: key.keyID.recordKey, count: workplace.partitions)
        let stray = StoredRecord(.key(key.keyID, KeyTable.record(of: key)), on: (home + 1) % workplace.partitions)
        try workplace.putLedger([stray])
        let refused = try workplace.importKeys(KeySamples.file([KeySamples.key(1, counter: 9)]))
        #expect(refused.waitForEnd() == .exit(1))
        #expect(refused.saysOneLine("attest-worker: the ledger has key \(key.keyID.text) on partition"))
        #expect(try workplace.exported() == KeySamples.file([key]))
        // Once it is gone from there the import goes through.
        try workplace.putLedger([StoredRecord(partition: stray.partition, key: stray.key, value: nil)])
        #expect(try workplace.importKeys(KeySamples.file([KeySamples.key(1, counter: 9)])).waitForEnd() == .exit(0))
        #expect(try workplace.exported() == KeySamples.file([KeySamples.key(1, counter: 9)]))
    }

    @Test func `a group with members is left alone, also if a static member has just stopped`() throws {
        let workplace = try ProgramWorkplace("occupied")
        let file = KeySamples.file([KeySamples.key(1, counter: 7)])
        let worker = try workplace.start("run", "--instance", "one")
        #expect(try workplace.hasMembers(1), "\(worker.error)")
        func expectRefusal(_ process: ProgramProcess) {
            #expect(process.waitForEnd() == .exit(1))
            let member = "attest-worker: group occupied has a member (occupied-one on 127.0.0.1): stop every worker"
            #expect(process.saysOneLine(member), "\(process.error)")
        }
        expectRefusal(try workplace.importKeys(file))
        expectRefusal(try workplace.start("reset"))
        expectRefusal(try workplace.start("reset", "--yes"))
        #expect(try workplace.exported() == "", "reading is allowed at any time")
        worker.expectEnd()
        expectRefusal(try workplace.importKeys(file))
        #expect(try workplace.hasMembers(0))
        #expect(try workplace.importKeys(file).waitForEnd() == .exit(0))
        #expect(try workplace.exported() == file)
    }

    @Test func `without a broker each of the three commands ends with one line and exit code 1`() throws {
        let workplace = try ProgramWorkplace("nowhere", topics: .nobody) {
            $0.kafka = [("bootstrap.servers", "127.0.0.1:1")]
        }
        try workplace.write(KeySamples.file([KeySamples.key(1)]), to: "KEYS")
        let processes = [
            try workplace.start("import-keys", "--input", workplace.file("KEYS")), try workplace.start("export-keys"),
            try workplace.start("reset", "--yes"),
        ]
        for process in processes {
            #expect(process.waitForEnd() == .exit(1))
            #expect(process.saysOneLine("attest-worker: cannot query the broker: "), "\(process.error)")
        }
    }

    @Test func `missing or unequal topics are named`() throws {
        let workplace = try ProgramWorkplace("topicless", topics: .nobody)
        let process = try workplace.refused("export-keys")
        #expect(process.saysOneLine("attest-worker: no such topic: topicless.requests; "), "\(process.error)")
        let topics = [
            NewTopic(name: workplace.requests, partitions: 2), NewTopic(name: workplace.topic("ledger"), partitions: 3),
        ]
        #expect(try Admin(workplace.properties).createTopics(topics) == [.created, .created])
        let unequal = try workplace.refused("reset")
        #expect(unequal.saysOneLine("attest-worker: topicless.requests has 2 partitions and topicless.ledger has 3"))
    }
}
