internal import Settings
internal import Testing

@testable internal import Telemetry

/// Lag, and what an open transaction holds back: rules of the position, the high watermark and the last stable offset.
struct PartitionEndsTests {
    typealias Ends = (low: Int64, stable: Int64, high: Int64)

    static let cases: [(claim: String, position: Int64?, ends: Ends, lag: Int64, unstable: Int64)] = [
        ("an empty partition", nil, (0, 0, 0), 0, 0), ("everything is answered", 120, (5, 120, 120), 0, 0),
        ("a backlog", 100, (5, 120, 120), 20, 0),
        ("nothing was ever committed: everything from the first offset on waits", nil, (5, 120, 120), 115, 0),
        ("read to the last stable offset, a marker before it", 2, (0, 2, 2), 0, 0),
        ("behind an open transaction, everything before it answered", 10, (0, 10, 211), 201, 201),
        ("behind an open transaction, and a backlog before it", 4, (0, 10, 211), 207, 201),
        ("the ends are older than the position", 130, (5, 120, 121), 0, 1),
        ("a reset to the end of a partition that was cut", 500, (0, 20, 20), 0, 0),
    ]

    @Test(arguments: cases)
    func `lag counts up to the high watermark`(
        claim: String,
        position: Int64?,
        ends: Ends,
        lag: Int64,
        unstable: Int64
    ) {
        let ends = PartitionEnds(low: ends.low, stable: ends.stable, high: ends.high)
        #expect(ends.lag(behind: position) == lag && ends.unstable == unstable, "\(claim)")
    }

    @Test func `of several clients the newest ends count, and a low watermark above the last stable offset does not`() {
        func statistics(_ stable: Int, _ high: Int) -> [UInt8] {
            let ends = #"{"partition": 0, "ls_offset": \#(stable), "lo_offset": 3, "hi_offset": \#(high)}"#
            return Array(#"{"topics": {"requests": {"partitions": {"0": \#(ends)}}}}"#.utf8)
        }
        let both = [statistics(10, 211), statistics(211, 211)]
        for order in [both, both.reversed()] {
            let ends = BrokerFigures(order, topic: "requests").ends[0]
            #expect(ends == PartitionEnds(low: 3, stable: 211, high: 211))
        }
        #expect(BrokerFigures([statistics(10, -1001)], topic: "requests").ends[0]?.high == 10)
        #expect(BrokerFigures([statistics(-1001, 5)], topic: "requests").ends.isEmpty)
        #expect(BrokerFigures([statistics(10, 11)], topic: "other").ends.isEmpty)
    }
}

/// The log's lines about open transactions.
struct UnstableWatchTests {
    private static func ends(_ stable: Int64, _ high: Int64) -> PartitionEnds {
        PartitionEnds(stable: stable, high: high)
    }

    /// With everything before the last stable offset answered.
    private static func poll(
        _ watch: inout UnstableWatch,
        _ ends: [Int32: PartitionEnds],
        at now: Int64
    ) -> [LogEvent] { watch.poll(ends, positions: ends.mapValues(\.stable), at: now) }

    /// A full queue: nothing is fetched, and the ends are as old as the last fetch.
    @Test func `a worker that has something left to answer says nothing of open transactions`() {
        var watch = UnstableWatch()
        let ends = [1: Self.ends(10, 211)] as [Int32: PartitionEnds]
        for second in 0...100 as ClosedRange<Int64> {
            #expect(watch.poll(ends, positions: [1: second % 10], at: second * 1_000).isEmpty)
            #expect(watch.poll(ends, positions: [:], at: second * 1_000).isEmpty, "everything is left")
        }
        // The time counts from here.
        #expect(watch.poll(ends, positions: [1: 10], at: 101_000).isEmpty)
        #expect(watch.poll(ends, positions: [1: 10], at: 115_999).isEmpty)
        #expect(watch.poll(ends, positions: [1: 10], at: 116_000).map(\.name) == [.partitionUnstable])
        // Reading again what was read before ends no transaction.
        #expect(watch.poll(ends, positions: [1: 4], at: 117_000).isEmpty)
        #expect(watch.poll([1: Self.ends(211, 211)], positions: [1: 4], at: 118_000).map(\.name) == [.partitionStable])
    }

    @Test func `an open transaction at a partition's very beginning is reported though nothing was committed`() {
        var watch = UnstableWatch()
        let ends = [1: PartitionEnds(low: 10, stable: 10, high: 12)] as [Int32: PartitionEnds]
        #expect(watch.poll(ends, positions: [:], at: 0).isEmpty)
        #expect(watch.poll(ends, positions: [:], at: 15_000).map(\.name) == [.partitionUnstable])
    }

    @Test func `a last stable offset that stands still is reported once, and again when it moves`() {
        var watch = UnstableWatch()
        #expect(Self.poll(&watch, [1: Self.ends(10, 211), 2: Self.ends(5, 5)], at: 0).isEmpty)
        #expect(Self.poll(&watch, [1: Self.ends(10, 300), 2: Self.ends(5, 5)], at: 14_999).isEmpty)
        let begin = Self.poll(&watch, [1: Self.ends(10, 310), 2: Self.ends(5, 5)], at: 15_000)
        #expect(begin.map(\.name) == [.partitionUnstable] && begin[0].level == .warning)
        #expect(begin[0].partition == 1 && begin[0].offset == 10 && begin[0].counts == [.init("unstable", 300)])
        for words in [
            "partition 1 ", "open transaction", "last stable offset 10", "records waiting: 300", "describe-producers",
        ] {
            #expect(begin[0].message.contains(words), "\(begin[0].message)")
        }
        #expect(Self.poll(&watch, [1: Self.ends(10, 320), 2: Self.ends(5, 5)], at: 600_000).isEmpty)
        let end = Self.poll(&watch, [1: Self.ends(320, 320), 2: Self.ends(5, 5)], at: 601_000)
        #expect(end.map(\.name) == [.partitionStable] && end[0].level == .info && end[0].partition == 1)
        #expect(end[0].counts == [.init("seconds", 601)])
        #expect(Self.poll(&watch, [1: Self.ends(320, 320)], at: 700_000).isEmpty)
    }

    @Test func `transactions that end in time are not reported, however many there are`() {
        var watch = UnstableWatch()
        for second in 0..<100 as Range<Int64> {
            #expect(Self.poll(&watch, [1: Self.ends(10 * (second / 10), 10 * second + 5)], at: second * 1_000).isEmpty)
        }
    }

    @Test func `a partition that was given away is forgotten`() {
        var watch = UnstableWatch()
        _ = Self.poll(&watch, [1: Self.ends(10, 211)], at: 0)
        #expect(Self.poll(&watch, [1: Self.ends(10, 211)], at: 15_000).count == 1)
        #expect(Self.poll(&watch, [:], at: 16_000).isEmpty)
        #expect(Self.poll(&watch, [1: Self.ends(10, 211)], at: 17_000).isEmpty)
        #expect(Self.poll(&watch, [1: Self.ends(10, 211)], at: 32_000).count == 1)
    }
}

/// The log's lines about partitions that keep a worker from being ready.
struct UnreadWatchTests {
    @Test(
        arguments: [
            ([3], "1 partition not read yet (3): nothing has come from it yet"),
            ([1, 0], "2 partitions not read yet (0, 1): nothing has come from them yet"),
            (Array(0..<5), "5 partitions not read yet (0, 1, 2, 3, 4): nothing has come from them yet"),
            (
                Array(0..<1_206),
                "1,206 partitions not read yet (0, 1, 2, 3, 4 and 1,201 more): nothing has come from them yet"
            ),
        ] as [([Int32], String)]
    )
    func `the reason names the first partitions, and how many more there are`(unread: [Int32], text: String) {
        #expect(WorkerSnapshot.text(unread: unread) == text)
    }

    @Test func `a worker that does not become ready says why, once, and when that is over`() {
        var watch = UnreadWatch()
        #expect(watch.poll([], at: 0).isEmpty && watch.poll([4, 2], at: 1_000).isEmpty)
        #expect(watch.poll([2], at: 10_999).isEmpty)
        let told = watch.poll([2], at: 11_000)
        #expect(told.map(\.name) == [.partitionsUnread] && told[0].level == .warning && told[0].isFault)
        #expect(told[0].message.hasPrefix("the worker is not ready after 10 s: \(WorkerSnapshot.text(unread: [2]));"))
        #expect(told[0].counts == [.init("partitions", 1)] && watch.poll([2], at: 99_000).isEmpty)
        let read = watch.poll([], at: 101_000)
        #expect(read.map(\.message) == ["all partitions are read, after 100 s"] && read[0].name == .partitionsRead)
        #expect(watch.poll([], at: 102_000).isEmpty && watch.poll([1], at: 103_000).isEmpty)
    }

    @Test func `partitions that are read in time are not reported`() {
        var watch = UnreadWatch()
        for second in 0..<100 as Range<Int64> {
            #expect(watch.poll(second % 9 == 8 ? [] : [1], at: second * 1_000).isEmpty)
        }
    }
}
