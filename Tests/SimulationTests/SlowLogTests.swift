import AppAttest
import Log
import Pipeline
import SimulationKit
import TestKit
import Testing

/// A log that takes a limited number of records in the time of a unit, as a broker with a quota does.
@Suite("A slow log")
struct SlowLogTests {
    private struct Overdue: LogFault {
        let endsLoop = false
        let requiresAbort = true
        let acknowledgedShare: Double?
    }

    /// Takes so many records in the time of a unit.
    private final class SlowLog {
        let log: ListLog
        var capacity: Int

        init(_ records: [InboundRecord], capacity: Int) {
            (log, self.capacity) = (ListLog(records) { _ in }, capacity)
            log.take = { [unowned self] outputs in
                let share = Double(outputs.count) / Double(self.capacity)
                guard share <= 1 else { throw Overdue(acknowledgedShare: 1 / share) }
                log.timeShare = share
            }
        }

        func loop(_ lanes: SimulatedLanes, _ settings: PipelineSettings) -> BatchLoop {
            var options = BatchLoop.Options()
            options.batch.records = SlowLogTests.batchRecords
            return lanes.loop(LogRoles(source: log, unit: log), settings, options)
        }
    }

    private static let batchRecords = 1_000

    private static func records(_ count: Int64) -> [InboundRecord] {
        (0..<count).map { RequestRecords.record([1], key: nil, offset: $0) }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `batches shrink until they fit, every request is answered once, and only one unit is lost`(
        seed: UInt64
    ) throws {
        let traffic = try FleetTraffic(.imitated)
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: seed)
        let slow = SlowLog(Self.records(5_000), capacity: 300)
        let loop = slow.loop(lanes, traffic.settings)
        #expect(try lanes.run(loop))
        #expect(loop.tally.deadLettersTotal == 5_000)
        #expect(slow.log.units.reduce(0, +) == 5_000)
        #expect(slow.log.aborts == 1)
    }

    @Test func `when the log is fast again, the batches grow again`() throws {
        let traffic = try FleetTraffic(.imitated)
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: 1)
        let slow = SlowLog(Self.records(30_000), capacity: 300)
        let loop = slow.loop(lanes, traffic.settings)
        while slow.log.units.count < 5 { #expect(try !lanes.run(loop, steps: 1)) }
        slow.capacity = 1_000_000
        #expect(try lanes.run(loop))
        #expect(slow.log.units.reduce(0, +) == 30_000)
        #expect(slow.log.units.max() == Self.batchRecords)
    }
}
