import Log
import TestKit
import Testing

@testable import Broker

@Suite("The records of one round")
struct RoundCollectorTests {
    private static let record = RequestRecords.record([1], key: nil, offset: 0)

    private static func collector(window: Int) -> RoundCollector {
        RoundCollector(
            limits: BatchLimits(records: 3, bytes: 1_000, milliseconds: window),
            waitMilliseconds: 3_600_000,
            Generation(1)
        )
    }

    @Test func `without a window a round ends when no further record is there`() throws {
        var collector = Self.collector(window: 0)
        #expect(collector.nextTimeout() == 0)
        collector.noteEmpty()
        #expect(try #require(collector.nextTimeout()) > 1_000_000, "the first record is waited for")
        collector.add(.record(Self.record), bytes: 1)
        #expect(collector.nextTimeout() == 0, "what is there already is taken")
        collector.add(.record(Self.record), bytes: 1)
        collector.noteEmpty()
        #expect(collector.nextTimeout() == nil)
        #expect(collector.round.records.count == 2)
    }

    @Test func `with a window a round goes on after its first record, up to its limit`() throws {
        var collector = Self.collector(window: 3_600_000)
        collector.add(.record(Self.record), bytes: 1)
        collector.noteEmpty()
        #expect(try #require(collector.nextTimeout()) > 1_000_000)
        for _ in 0..<2 { collector.add(.record(Self.record), bytes: 1) }
        #expect(collector.nextTimeout() == nil)
    }
}
