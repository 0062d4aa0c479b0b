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

    private final class SlowLog: RequestSource, RecordUnit {
        private let records: [InboundRecord]
        /// Records that fit into the time of a unit.
        var capacity: Int
        private var (read, committed) = (0, 0)
        private(set) var timeShare = 0.0
        /// Outputs of each unit that was committed.
        private(set) var units: [Int] = []
        private(set) var aborts = 0

        init(_ records: [InboundRecord], capacity: Int) { (self.records, self.capacity) = (records, capacity) }

        func poll(_ limits: BatchLimits, waitMilliseconds: Int) -> PollRound {
            var round = PollRound()
            round.records = records[read...].prefix(limits.records).map { .record($0) }
            read += round.records.count
            round.ended = committed == records.count
            return round
        }
        func write(
            _ records: [[OutboundRecord]],
            _ positions: [PartitionPosition],
            of generation: Generation
        ) throws {
            let pending = records.reduce(0) { $0 + $1.count }
            guard pending <= capacity else {
                aborts += 1
                throw Overdue(acknowledgedShare: Double(capacity) / Double(pending))
            }
            units.append(pending)
            timeShare = Double(pending) / Double(capacity)
            committed = positions.first.map { Int($0.offset) } ?? committed
        }
        func abort() -> Bool {
            read = committed
            return true
        }
        let member: (any GroupMember)? = nil
        let isAtomic = true
    }

    private func loop(_ log: SlowLog, _ lanes: SimulatedLanes, _ settings: PipelineSettings) -> BatchLoop {
        var options = BatchLoop.Options()
        options.batch.records = Self.batchRecords
        return BatchLoop(
            log: LogRoles(source: log, unit: log),
            settings: settings,
            lanes: lanes,
            options: options,
            post: lanes.post,
            wallClock: { nil }
        )
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
        let log = SlowLog(Self.records(5_000), capacity: 300)
        let loop = loop(log, lanes, traffic.settings)
        #expect(try lanes.run(loop))
        #expect(loop.tally.deadLettersTotal == 5_000)
        #expect(log.units.reduce(0, +) == 5_000)
        #expect(log.aborts == 1)
    }

    @Test func `when the log is fast again, the batches grow again`() throws {
        let traffic = try FleetTraffic(.imitated)
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: 1)
        let log = SlowLog(Self.records(30_000), capacity: 300)
        let loop = loop(log, lanes, traffic.settings)
        while log.units.count < 5 { #expect(try !lanes.run(loop, steps: 1)) }
        log.capacity = 1_000_000
        #expect(try lanes.run(loop))
        #expect(log.units.reduce(0, +) == 30_000)
        #expect(log.units.max() == Self.batchRecords)
    }
}
