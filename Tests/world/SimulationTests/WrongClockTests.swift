import AppAttest
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// A loop whose wall clock contradicts the brokers' waits, and judges all once they agree.
@Suite("A wrong wall clock")
struct WrongClockTests {
    /// A clock that is set right after it was asked so often.
    private final class Clock: @unchecked Sendable {
        private var asked = 0
        private(set) var notices: [String] = []
        let behind: Int64
        let wrongFor: Int
        init(behind: Int64, wrongFor: Int) { (self.behind, self.wrongFor) = (behind, wrongFor) }

        func now() -> EvaluationTime {
            asked += 1
            return EvaluationTime(milliseconds: RequestRecords.time + 60_000 - (asked <= wrongFor ? behind : 0))
        }

        func note(_ fault: any SourceFault) {
            // Partitions come and go whatever the clock says.
            if !(fault is AssignmentNotice) { notices.append(String(describing: fault)) }
        }
    }

    private static func run(_ clock: Clock, logAppend: Bool) throws -> BatchLoop {
        let records = try FleetTraffic.imitated.get().records(40, partitions: 2, seed: 8).map { record in
            var record = record
            record.hasLogAppendTime = logAppend
            return record
        }
        let rig = try TrafficLoop(
            StreamRoles(SimulatedStreams(records: records, seed: 1)),
            wallClock: clock.now,
            uptime: { 1_000 },
            notice: clock.note
        )
        #expect(try rig.run())
        return rig.loop
    }

    @Test
    func `a worker whose clock is behind refuses nothing: it logs that once, waits, and judges all after the fix`()
        throws
    {
        let right = try Self.run(Clock(behind: 0, wrongFor: 0), logAppend: true).tally
        let clock = Clock(behind: 86_400_000, wrongFor: 500)
        let loop = try Self.run(clock, logAppend: true)
        #expect(loop.tally.refused == right.refused && loop.tally.accepted == right.accepted)
        #expect(loop.tally.refused["from-future"] == nil)
        #expect(clock.notices.count == 2 && clock.notices[0].contains("clocks is wrong"), "\(clock.notices)")
        #expect(clock.notices.last?.hasPrefix("nothing contradicts this machine's clock any more") == true)
        #expect(loop.clockDoubt == nil)
    }

    @Test func `with producer timestamps a record from the future is refused, and the worker does not wait`() throws {
        let clock = Clock(behind: 86_400_000, wrongFor: .max)
        let loop = try Self.run(clock, logAppend: false)
        #expect(loop.tally.refused["from-future"] ?? 0 > 20)
        #expect(clock.notices.isEmpty)
    }

    /// Its offsets would pass those of the batches that the stop drops.
    @Test func `a stop drops the round that waits for the clock, too`() throws {
        let clock = MovedClock(RequestRecords.time + 1_000)
        let records = try FleetTraffic.imitated.get().records(24, partitions: 1, seed: 8).map { record in
            var record = record
            record.hasLogAppendTime = true
            return record
        }
        let source = PolledSource { round, number, _ in
            if number == 2 { clock.milliseconds -= 86_400_000 }
            round.records = records[number * 8..<number * 8 + 8].map { .record($0) }
        }
        let transaction = MemoryTransaction()
        let streams = StreamRoles(source: source, transaction: transaction)
        let rig = try TrafficLoop(streams, wallClock: { clock.now }, uptime: { 1_000 })
        for _ in 0..<20 where source.polls < 3 { try rig.tick() }
        #expect(rig.loop.clockDoubt != nil)
        rig.loop.stop()
        clock.milliseconds += 86_400_000
        #expect(try rig.run())
        #expect(transaction.commits.map { $0.map(\.offset) } == [[records[7].offset + 1]])
    }
}
