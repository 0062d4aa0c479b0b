import AppAttest
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Streams that take a limited number of records in the time of a transaction, as a broker with a quota does.
@Suite("Slow streams")
struct SlowStreamsTests {
    private struct Overdue: SourceFault {
        let endsLoop = false
        let requiresAbort = true
        let acknowledgedShare: Double?
    }

    /// Takes so many records in the time of a transaction.
    private final class SlowStreams {
        let streams: ListStreams
        var capacity = 300

        init(_ count: Int64) {
            streams = ListStreams((0..<count).map { RequestRecords.record([1], key: nil, offset: $0) }) { _ in }
            streams.take = { [unowned self] outputs in
                let share = Double(outputs.count) / Double(self.capacity)
                guard share <= 1 else { throw Overdue(acknowledgedShare: 1 / share) }
                streams.timeShare = share
            }
        }

        func loop(seed: UInt64 = 1) throws -> TrafficLoop {
            let most = SlowStreamsTests.mostRecords
            return try TrafficLoop(StreamRoles(streams), seed: seed, options: { $0.batch.records = most })
        }
    }

    private static let mostRecords = 1_000

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `batches shrink until they fit, every request is answered once, and only one transaction is lost`(
        seed: UInt64
    ) throws {
        let slow = SlowStreams(5_000)
        let rig = try slow.loop(seed: seed)
        #expect(try rig.run())
        #expect(rig.loop.tally.deadLettersTotal == 5_000)
        #expect(slow.streams.transactions.reduce(0, +) == 5_000)
        #expect(slow.streams.aborts == 1)
    }

    @Test func `when the streams are fast again, the batches grow again`() throws {
        let slow = SlowStreams(30_000)
        let rig = try slow.loop()
        while slow.streams.transactions.count < 5 { #expect(try !rig.run(steps: 1)) }
        slow.capacity = 1_000_000
        #expect(try rig.run())
        #expect(slow.streams.transactions.reduce(0, +) == 30_000)
        #expect(slow.streams.transactions.max() == Self.mostRecords)
    }
}
