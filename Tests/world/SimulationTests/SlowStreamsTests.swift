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
        var capacity: Int

        init(_ records: [InboundRecord], capacity: Int) {
            (streams, self.capacity) = (ListStreams(records) { _ in }, capacity)
            streams.take = { [unowned self] outputs in
                let share = Double(outputs.count) / Double(self.capacity)
                guard share <= 1 else { throw Overdue(acknowledgedShare: 1 / share) }
                streams.timeShare = share
            }
        }

        func loop(_ lanes: SimulatedLanes, _ settings: PipelineSettings) -> BatchLoop {
            var options = BatchLoop.Options()
            options.batch.records = SlowStreamsTests.batchRecords
            return lanes.loop(StreamRoles(source: streams, transaction: streams), settings, options)
        }
    }

    private static let batchRecords = 1_000

    private static func records(_ count: Int64) -> [InboundRecord] {
        (0..<count).map { RequestRecords.record([1], key: nil, offset: $0) }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `batches shrink until they fit, every request is answered once, and only one transaction is lost`(
        seed: UInt64
    ) throws {
        let traffic = try FleetTraffic(.imitated)
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: seed)
        let slow = SlowStreams(Self.records(5_000), capacity: 300)
        let loop = slow.loop(lanes, traffic.settings)
        #expect(try lanes.run(loop))
        #expect(loop.tally.deadLettersTotal == 5_000)
        #expect(slow.streams.transactions.reduce(0, +) == 5_000)
        #expect(slow.streams.aborts == 1)
    }

    @Test func `when the streams are fast again, the batches grow again`() throws {
        let traffic = try FleetTraffic(.imitated)
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: 1)
        let slow = SlowStreams(Self.records(30_000), capacity: 300)
        let loop = slow.loop(lanes, traffic.settings)
        while slow.streams.transactions.count < 5 { #expect(try !lanes.run(loop, steps: 1)) }
        slow.capacity = 1_000_000
        #expect(try lanes.run(loop))
        #expect(slow.streams.transactions.reduce(0, +) == 30_000)
        #expect(slow.streams.transactions.max() == Self.batchRecords)
    }
}
