import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// The counts of a loop are those of what it has written.
@Suite("Counts are the topics' sums")
struct AnswerTallyTests {
    /// App, verb, verdict and reason of a result.
    private struct Line: Hashable {
        var app: String
        var verb: String
        var verdict: String
        var reason: String
    }

    private static let app = "1:123456789012:ios:0123456789abcdef"

    /// Faults that leave nothing behind: one that leaves outputs without positions writes them twice.
    private static var chances: SimulatedStreams.Chances {
        var chances = SimulatedStreams.Chances()
        (chances.commitFault, chances.rebalance, chances.callFault) = (0.2, 0.05, 0.05)
        chances.faults = [.nothingDone]
        return chances
    }

    /// As readers of the results topic count.
    private static func lines(_ outputs: [OutboundRecord]) throws -> [Line: Int] {
        var lines: [Line: Int] = [:]
        for output in outputs where output.stream == .results {
            let root = try JSONDocument(parsing: output.value ?? []).root
            let path = try #require(root["path"]?.string)
            let verb = path.split(separator: ":").last.map(String.init) ?? ""
            let app = path.contains("/apps/\(Self.app):") ? Self.app : "unknown"
            let line = Line(
                app: app,
                verb: Verb.allCases.contains { $0.rawValue == verb } ? verb : "other",
                verdict: root["verdict"]?.string ?? "",
                reason: root["reason"]?.string ?? ""
            )
            lines[line, default: 0] += 1
        }
        return lines
    }

    private static func lines(_ tally: AnswerTally) -> [Line: Int] {
        var lines: [Line: Int] = [:]
        for (key, count) in tally.counts {
            let (verdict, reason): (String, String)
            switch key.event {
            case .accepted: (verdict, reason) = ("accepted", "")
            case .refused(let found): (verdict, reason) = ("refused", found.code)
            case .deferred(let found): (verdict, reason) = ("deferred", found.code)
            default: continue
            }
            let verb = key.verb?.rawValue ?? "other"
            lines[Line(app: tally.app(of: key) ?? "unknown", verb: verb, verdict: verdict, reason: reason)] = count
        }
        return lines
    }

    private static func count(_ tally: AnswerTally, _ isCounted: (AnswerCounts.Event) -> Bool) -> Int {
        tally.counts.reduce(0) { isCounted($1.key.event) ? $0 + $1.value : $0 }
    }

    @Test(arguments: SeededTrafficTests.seeds)
    func `whatever faults the streams have, each request is answered once, and counted once`(seed: UInt64) throws {
        var records = SeededTrafficTests.traffic(seed: seed)
        for (index, text) in ["{}", #"{"path": "v1/projects/1/apps/a:other", "body": {}}"#, "no"].enumerated() {
            records.append(RequestRecords.record(Array(text.utf8), key: nil, partition: 9, offset: Int64(index)))
        }
        let now = EvaluationTime(milliseconds: RequestRecords.time + 1_234)
        let run = try LoopRun(records, seed: seed, batchRecords: 7, chances: Self.chances, now: now)
        let places = Set(run.outputs.map { RecordPlace(partition: $0.partition, offset: $0.sourceOffset) })
        #expect(run.outputs.count == records.count && places.count == records.count)
        let expected = try Self.lines(run.outputs)
        #expect(Self.lines(run.tally.answers) == expected)
        let results = run.outputs.count { $0.stream == .results }
        #expect(run.tally.answerAge.count == results && run.tally.answerAge.sum > 0)
        #expect(run.tally.batchRecords.count == run.tally.batches)
        #expect(run.tally.batchRecords.sum == Int64(records.count))
        let duplicates = try run.outputs.count { try $0.stream == .results && ReadResult($0).duplicate }
        #expect(Self.count(run.tally.answers) { $0 == .duplicate } == duplicates)
        let letters = run.outputs.count { $0.stream == .deadLetters }
        #expect(letters >= 2)
        #expect(
            Self.count(run.tally.answers) { if case .deadLetter = $0 { true } else { false } } == letters
        )
    }

    @Test func `an app that a reload removes keeps its counts, and a new one gets its own`() {
        var tally = AnswerTally()
        func batch(_ app: Int32) -> AnswerTally {
            var (counts, one) = (AnswerCounts(), AnswerTally())
            counts.add(AnswerCounts.Key(app: app, verb: .verifyAssertion, event: .accepted), 2)
            one.add(counts, app == 0 ? one.places(of: ["a", "b"]) : one.places(of: ["b", "c"]))
            return one
        }
        tally.add(batch(0))
        tally.add(batch(1))
        tally.add(batch(1))
        let named = Dictionary(uniqueKeysWithValues: tally.counts.map { (tally.app(of: $0.key), $0.value) })
        #expect(named == ["a": 2, "c": 4])
    }

    @Test func `two apps of one id share a place`() {
        var (tally, counts) = (AnswerTally(), AnswerCounts())
        for app: Int32 in [0, 1, -1] {
            counts.add(AnswerCounts.Key(app: app, verb: nil, event: .refused(.unknownMethod)))
        }
        tally.add(counts, tally.places(of: ["same", "same"]))
        #expect(tally.counts.map(\.value).sorted() == [1, 2])
    }
}
