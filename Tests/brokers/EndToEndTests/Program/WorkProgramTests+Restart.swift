import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Streams
import Testing

extension WorkProgramTests {
    @Test func `a restarted run knows every counter: newer assertions pass, older ones do not`() throws {
        let workplace = try ProgramWorkplace("counters")
        let all = try workplace.simulated(devices: 10, records: 200)
        let (before, after) = (Array(all[..<100]), Array(all[100...]))
        try workplace.put(before)
        let first = try workplace.work(until: 100)
        #expect(!first.error.contains("the ledger is restored"), "there was nothing to restore: \(first.error)")

        // The last assertion of each key once more, under a name of its own, and only then what is new.
        var last: [[UInt8]: InboundRecord] = [:]
        for record in before where !isAttestation(record) { last[record.key ?? []] = record }
        let replayed = last.values.map { record in
            var again = record
            again.headers = [RecordHeader("request-id", "again-\(record.partition)-\(record.offset)")]
            return again
        }
        try #require(replayed.count > 5)
        try workplace.put(replayed)
        try workplace.put(after)
        let total = all.count + replayed.count
        let second = try workplace.work(until: total)
        #expect(second.requests == after.count + replayed.count, "\(second.error)")
        #expect(second.error.contains("the ledger is restored: "), "\(second.error)")
        #expect(try Outcomes(of: workplace).counts == ["accepted": 200, "counter-not-greater": replayed.count])
    }

    @Test func `workers of a group share the load, and another one takes load off them`() throws {
        let workplace = try ProgramWorkplace("shared") { $0.members = #""batch": {"records": 50},"# }
        let all = try workplace.simulated(devices: 30, records: 900)
        var workers: [ProgramProcess] = []
        for (number, name) in ["one", "two", "three"].enumerated() {
            workers.append(try workplace.start("run", "--instance", name))
            try #require(try workplace.hasMembers(workers.count), "\(workers.map(\.error))")
            let part = Array(all[(number * 300)..<(number * 300 + 300)])
            try workplace.put(part)
            #expect(try workplace.hasOutcomes((number + 1) * 300, of: workers), "\(workers.map(\.error))")
        }
        for worker in workers { worker.signal(SIGTERM) }
        for worker in workers { #expect(worker.waitForEnd() == .exit(0), "\(worker.error)") }
        let shares = workers.map(\.requests)
        #expect(shares.reduce(0, +) == 900, "\(shares)")
        #expect(shares[0] < 900 && shares[1] > 0 && shares[2] > 0, "\(shares)")
        #expect(shares[0] >= 300, "the first had everything at first: \(shares)")
        // Keys that attested with one worker assert with others.
        #expect(try Outcomes(of: workplace).counts == ["accepted": 900])
    }

    @Test func `of two runs with one name one ends with a line that names the remedy, the other does the work`()
        throws
    {
        let workplace = try ProgramWorkplace("namesake") { $0.members = #""batch": {"records": 20},"# }
        let all = try workplace.simulated(devices: 20, records: 600)
        let workers = try (0..<2).map { _ in try workplace.start("run", "--instance", "same") }
        for part in 0..<20 where workers.allSatisfy(\.isRunning) {
            try workplace.put(Array(all[(part * 30)..<(part * 30 + 30)]))
            _ = Deadline.wait(2) { !workers.allSatisfy(\.isRunning) }
        }
        #expect(Deadline.wait(60) { workers.count(where: \.isRunning) == 1 }, "\(workers.map(\.error))")
        let ended = try #require(workers.first { !$0.isRunning })
        #expect(ended.waitForEnd() == .exit(1))
        let last = ended.error.split(separator: "\n").last.map(String.init) ?? ""
        #expect(last.contains(" error stopped: the broker ended the work: another process "), "\(ended.error)")
        #expect(last.contains("namesake-same") && last.contains("--instance"), "\(last)")
        let rest = all.count - (try workplace.records(of: workplace.requests).count)
        try workplace.put(Array(all.suffix(rest)))
        let other = try #require(workers.first { $0.isRunning }, "\(workers.map(\.error))")
        #expect(try workplace.hasOutcomes(600, of: [other]), "\(other.error)")
        other.signal(SIGTERM)
        #expect(other.waitForEnd() == .exit(0), "\(other.error)")
        #expect(try Outcomes(of: workplace).counts == ["accepted": 600])
    }
}
