import AppAttest
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// A loop whose wall clock contradicts the brokers' waits, and judges all once they agree.
@Suite("A wrong wall clock")
struct WrongClockTests {
    private static let traffic = Result { try FleetTraffic(.imitated) }

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

    private static func run(_ clock: Clock, logAppend: Bool) throws -> (LoopTally, BatchLoop) {
        let traffic = try traffic.get()
        let records = try traffic.records(40, partitions: 2, seed: 8).map { record in
            var record = record
            record.hasLogAppendTime = logAppend
            return record
        }
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: 1)
        let streams = SimulatedStreams(records: records, seed: 1)
        let loop = lanes.loop(
            StreamRoles(source: streams, transaction: streams),
            traffic.settings,
            wallClock: clock.now,
            uptime: { 1_000 },
            notice: clock.note
        )
        #expect(try lanes.run(loop))
        return (loop.tally, loop)
    }

    @Test
    func `a worker whose clock is behind refuses nothing: it logs that once, waits, and judges all after the fix`()
        throws
    {
        let right = try Self.run(Clock(behind: 0, wrongFor: 0), logAppend: true).0
        let clock = Clock(behind: 86_400_000, wrongFor: 500)
        let (tally, loop) = try Self.run(clock, logAppend: true)
        #expect(tally.refused == right.refused && tally.accepted == right.accepted)
        #expect(tally.refused["from-future"] == nil)
        #expect(clock.notices.count == 2 && clock.notices[0].contains("clocks is wrong"), "\(clock.notices)")
        #expect(clock.notices.last?.hasPrefix("nothing contradicts this machine's clock any more") == true)
        #expect(loop.clockDoubt == nil)
    }

    @Test func `with producer timestamps a record from the future is refused, and the worker does not wait`() throws {
        let clock = Clock(behind: 86_400_000, wrongFor: .max)
        let (tally, _) = try Self.run(clock, logAppend: false)
        #expect(tally.refused["from-future"] ?? 0 > 20)
        #expect(clock.notices.isEmpty)
    }
}
