import DeviceLab
import Foundation
import JSON
import Streams
import Study
import TestKit
import Testing

/// A record that stands in two captures, as where hourly ones overlap.
@Suite("Overlapping captures")
struct OverlappingCaptureTests {
    private static let records = FakeFleet.lab(devices: 3, records: 24).requests
    private static let count = records.count

    private static func replay(
        _ captures: [[InboundRecord]]
    ) throws -> (fixture: ReplayFixture, code: Int32, error: String, summary: JSONNode?) {
        let fixture = try ReplayFixture()
        for (index, capture) in captures.enumerated() { try fixture.write(capture: capture, as: "\(index).ndjson") }
        let others = captures.indices.dropFirst().map { fixture.file("\($0).ndjson") }
        let summary = fixture.file("summary.json")
        let (code, _, error) = fixture.replay(["--summary", summary] + others, capture: "0.ndjson")
        let root = try? fixture.json("summary.json")
        return (fixture, code, error, root)
    }

    /// The line that counts copies.
    private static func leftOut(_ count: Int) -> String {
        "warning: left out \(count) records that stand in the captures for a second time\n"
    }

    @Test func `a record that stands twice is judged once and counted, whatever the order of the files`() throws {
        let whole = try Self.replay([Self.records])
        let results = try whole.fixture.bytes("out/results.ndjson")
        #expect(whole.code == 0 && whole.error.isEmpty && whole.summary?["repeatedRecords"] == nil)
        let (first, second) = (Array(Self.records.prefix(15)), Array(Self.records.dropFirst(9)))
        for captures in [[first, second], [first + second], [Self.records, first], [first, first, second]] {
            let run = try Self.replay(captures)
            let count = captures.reduce(0) { $0 + $1.count } - Self.records.count
            #expect(run.code == 0 && run.error == Self.leftOut(count))
            #expect(run.summary?["repeatedRecords"]?.integer == Int64(count))
            #expect(run.summary?["requests"]?.integer == Int64(Self.count))
            #expect(try run.fixture.bytes("out/results.ndjson") == results)
        }
    }

    @Test(
        arguments: [
            { $0.key = [0x6B] }, { $0.key = nil }, { $0.value = [0x76] }, { $0.value = nil },
            { $0.value = OverlappingCaptureTests.records[5].value },
        ] as [@Sendable (inout InboundRecord) -> Void]
    )
    func `another request at a place that was read ends the replay and is named`(
        _ change: @Sendable (inout InboundRecord) -> Void
    ) throws {
        var other = Self.records[4]
        change(&other)
        let run = try Self.replay([Self.records, [other]])
        let place = "partition \(other.partition), offset \(other.offset) of appattest.requests"
        #expect(run.code == 1 && run.error.contains("\(place) stands twice"), "\(run.error)")
        #expect(run.error.split(separator: "\n").count == 1)
    }

    /// The payload as a tool writes that has opened it.
    private static func opened(_ record: InboundRecord) throws -> InboundRecord {
        var record = record
        let value = try JSONSerialization.jsonObject(with: Data(record.value ?? []))
        record.value = Array(try JSONSerialization.data(withJSONObject: value, options: [.prettyPrinted, .sortedKeys]))
        return record
    }

    private static let anothersCopies: [@Sendable (inout InboundRecord) throws -> Void] = [
        { $0.topic = "" }, { $0.timestamp = -1 }, { $0.headers = [] }, { $0 = try opened($0) },
        {
            $0 = try opened($0)
            ($0.topic, $0.timestamp, $0.headers) = ("", -1, [])
        },
    ]

    @Test(arguments: anothersCopies.indices)
    func `another tool's copy that says the same, or less, is a copy`(_ index: Int) throws {
        let other = try Self.records.changed(Self.anothersCopies[index])
        let run = try Self.replay([Self.records, other])
        #expect(run.code == 0)
        let mentioned = run.error.split(separator: "\n").filter { !$0.contains("has a timestamp (ts)") }
        #expect(mentioned.joined(separator: "\n") + "\n" == Self.leftOut(Self.count), "\(run.error)")
        #expect(run.summary?["requests"]?.integer == Int64(Self.count))
        #expect(
            try run.fixture.bytes("out/results.ndjson")
                == Self.replay([Self.records]).fixture.bytes("out/results.ndjson")
        )
    }

    @Test func `of a capture that names no topic the first record is judged too`() throws {
        let run = try Self.replay([Self.records.changed { $0.topic = "" }, Self.records])
        #expect(run.code == 0 && run.summary?["requests"]?.integer == Int64(Self.count), "\(run.error)")
        #expect(run.error == Self.leftOut(24))
    }

    @Test(arguments: [false, true])
    func `where one of two records names no topic, the fault says so and what to do`(isFirst: Bool) throws {
        let other = Array(Self.records.prefix(3)).changed { ($0.topic, $0.value) = ("", [0x76]) }
        let run = try Self.replay(isFirst ? [other, Self.records] : [Self.records, other])
        #expect(run.code == 1 && run.error.split(separator: "\n").count == 1)
        #expect(run.error.contains("stands twice in the captures, with different content. One of the two names no"))
        #expect(run.error.contains(": replay its capture on its own, or add its topic."), "\(run.error)")
        // Where both name none, a topic's name does not help.
        let both = try Self.replay([other, other.changed { $0.value = [0x77] }])
        #expect(both.code == 1 && !both.error.contains("names no topic"), "\(both.error)")
    }

    private static let unfit: [@Sendable (inout InboundRecord) -> Void] = [
        { $0.headers.append(RecordHeader("a", String(repeating: "x", count: 8_193))) },
        { $0.headers.append(RecordHeader("request-id", "")) },
        { $0.headers = Array(repeating: RecordHeader("a", "b"), count: 257) },
    ]

    @Test(arguments: unfit.indices, [false, true])
    func `a dead letter for its headers is a copy of the request without them`(_ index: Int, isFirst: Bool) throws {
        let unfit = Self.records.changed(Self.unfit[index])
        let bare = Self.records.changed { ($0.headers, $0.timestamp) = ([], -1) }
        let run = try Self.replay(isFirst ? [unfit, bare] : [bare, unfit])
        #expect(run.code == 0 && run.summary?["repeatedRecords"]?.integer == Int64(Self.count), "\(run.error)")
        // What was judged lacks what the second copy has.
        #expect(run.error.contains("\(Self.count) records have a second copy with another") == !isFirst, "\(run.error)")
    }

    @Test(arguments: [false, true])
    func `a copy that spaces take beyond the limit of a value is a copy`(isFirst: Bool) throws {
        let wide = Self.records.changed { record in
            record.value = (record.value ?? []) + [UInt8](repeating: 0x20, count: 65_536)
        }
        let run = try Self.replay(isFirst ? [wide, Self.records] : [Self.records, wide])
        #expect(run.code == 0 && run.summary?["repeatedRecords"]?.integer == Int64(Self.count), "\(run.error)")
        #expect(try Self.replay([Self.records, wide.changed { $0.value?[0] = 0x5B }]).code == 1)
    }

    @Test func `what is no request is a copy too, however a tool writes it`() throws {
        let texts = [#"{"path": "x", "body": {"a": [1, null, true], "b": "\u0041"}}"#, "[]", "no JSON"]
        let others = [#"{"body":{"b":"A","a":[1,null,true]},"path":"x"}"#, "[ ]", "no JSON"]
        let captures = [texts, others, [texts[1]]].map { texts in
            texts.enumerated().map { index, text in
                RequestRecords.record(Array(text.utf8), key: nil, offset: Int64(index))
            }
        }
        #expect(try Self.replay([captures[0], captures[1]]).summary?["repeatedRecords"]?.integer == 3)
        #expect(try Self.replay([captures[0], captures[2]]).code == 1)
    }

    @Test(
        arguments: [
            { $0.timestamp += 1 }, { $0.headers = [RecordHeader("request-id", "another")] },
            { $0.headers.append(RecordHeader("installation-id", "i")) },
        ] as [@Sendable (inout InboundRecord) -> Void]
    )
    func `a copy with another timestamp or header is left out, counted and named`(
        _ change: @Sendable (inout InboundRecord) -> Void
    ) throws {
        let others = Array(Self.records[4...6]).changed(change)
        let run = try Self.replay([Self.records, others])
        #expect(run.code == 0 && run.summary?["repeatedRecords"]?.integer == 3)
        let lines = run.error.split(separator: "\n")
        let warning = "warning: 3 records have a second copy with another timestamp"
        #expect(lines.count == 2 && lines.last?.hasPrefix(warning) == true)
        let place = "partition \(others[0].partition), offset \(others[0].offset) of appattest.requests"
        #expect(run.error.contains(", as \(place): the first copy was judged"), "\(run.error)")
    }

    @Test func `a first copy without timestamps is judged so, and the warning says what to do`() throws {
        let run = try Self.replay([Self.records.changed { $0.timestamp = -1 }, Self.records])
        #expect(run.code == 0)
        #expect(run.error.contains("24 records have a second copy with another timestamp"), "\(run.error)")
        #expect(run.error.contains("Name the capture that has all of these first."))
    }

    @Test func `the same offset of another partition or topic is another record`() throws {
        var (other, foreign) = (Self.records[4], Self.records[5])
        other.partition += 8
        foreign.topic = "another"
        let run = try Self.replay([Self.records, [other, foreign]])
        #expect(run.code == 0 && run.error.isEmpty, "\(run.error)")
        #expect(run.summary?["requests"]?.integer == Int64(Self.records.count + 2))
    }

    @Test func `a record of a capture is explained as the worker met it, though others stand twice`() throws {
        let fixture = try ReplayFixture(Self.records)
        try fixture.write(capture: Array(Self.records.prefix(20)) + Self.records.dropFirst(8), as: "twice.ndjson")
        let last = try #require(Self.records.last)
        let place = "\(last.partition)/\(last.offset)"
        let explained = try fixture.inspect(place).output
        #expect(try !explained.isEmpty && fixture.inspect(place, capture: "twice.ndjson").output == explained)
    }
}

@Suite("The places that were read")
struct PlacesReadTests {
    @Test func `a place is new once, whatever the order`() {
        var places = PlacesRead()
        var offsets = Array(0..<5_000 as Range<Int64>).map { $0 * 7 % 5_000 }
        offsets += [Int64.max, Int64.max - 64]
        for offset in offsets {
            #expect(places.note("t", 0, offset, digest: UInt64(offset)) == .new)
        }
        for offset in offsets {
            #expect(places.note("t", 0, offset, digest: 1) == .read(UInt64(offset)))
            #expect(places.note("t", 1, offset, digest: 1) == .new && places.note("s", 0, offset, digest: 1) == .new)
        }
    }

    /// Against a table of everything.
    @Test(arguments: [1, 2, 3, 8], 0..<20 as Range<UInt64>)
    func `what is forgotten is known to have been read, and nothing else is`(blocks: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var places = PlacesRead(mostBlocks: blocks)
        var read: [Int64: UInt64] = [:]
        for step in 0..<2_000 as Range<Int64> {
            // Mostly ascending, with gaps, and steps back.
            let offset = random.next() % 4 == 0 ? Int64(random.next() % 1_000) : step + Int64(random.next() % 3)
            let digest = random.next() % 8 == 0 ? 1 : 0 as UInt64
            let finding = places.note("t", 0, offset, digest: digest)
            switch (read[offset], finding) {
            case (nil, .new): read[offset] = digest
            case (let known?, .read(let digest)): #expect(known == digest)
            case (_?, .forgotten): continue
            default: Issue.record("offset \(offset): \(finding), read \(String(describing: read[offset]))")
            }
        }
    }

    @Test(arguments: [["", "t", "s"], ["t", "", "s"], ["t", "s", ""]])
    func `a place without a topic is one of the first topic's`(_ topics: [String]) {
        var places = PlacesRead()
        let findings = topics.map { places.note($0, 0, 5, digest: 7) }
        #expect(findings.filter { $0 == .new }.count == 2 && places.note("s", 0, 5, digest: 1) == .read(7))
        #expect(findings[topics.lastIndex { $0 != "s" } ?? 0] == .read(7))
    }

    @Test func `the latest places are compared, and those before them named as read`() {
        var places = PlacesRead(mostBlocks: 4)
        for offset in 0..<1_000 as Range<Int64> { #expect(places.note("t", 0, offset, digest: 5) == .new) }
        #expect(places.note("t", 0, 999, digest: 6) == .read(5) && places.note("t", 0, 800, digest: 6) == .read(5))
        #expect(places.note("t", 0, 0, digest: 5) == .forgotten && places.note("t", 0, 500, digest: 6) == .forgotten)
        #expect(places.comparable == 256)
    }

    @Test(arguments: [false, true])
    func `ranges are limited, and no place that was read is new again`(isDescending: Bool) {
        var places = PlacesRead(mostBlocks: 1, mostRanges: 3)
        let read = (0..<10 as Range<Int64>).map { (isDescending ? 9 - $0 : $0) * 200 }
        for offset in read { #expect(places.note("t", 0, offset, digest: 1) == .new) }
        for offset in read.dropLast() { #expect(places.note("t", 0, offset, digest: 1) == .forgotten, "\(offset)") }
        // What lies in a gap that a range took in is a fault, and what lies in another gap is new.
        #expect(places.note("t", 0, isDescending ? 700 : 1_100, digest: 1) == .forgotten)
        #expect(places.note("t", 0, isDescending ? 1_700 : 100, digest: 1) == .new)
    }
}
