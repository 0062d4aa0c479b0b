import AppAttest
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// A lone request must not wait for company: what comes after it makes the next batch.
@Suite("A batch's window")
struct BatchWindowTests {
    /// One record a poll; notes how each poll was asked to wait.
    private final class AskedSource: RequestSource {
        let member: (any GroupMember)? = nil
        private(set) var windows: [Int] = []
        private(set) var waits: [Int] = []
        private let count: Int64

        init(_ count: Int64) { self.count = count }

        func poll(_ limits: BatchLimits, waitMilliseconds: Int) -> PollRound {
            let offset = Int64(windows.count)
            windows.append(limits.milliseconds)
            waits.append(waitMilliseconds)
            var round = PollRound()
            round.ended = offset >= count
            if offset < count { round.records = [.record(RequestRecords.record([1], key: nil, offset: offset))] }
            return round
        }
    }

    @Test(arguments: [1, 100, 60_000])
    func `ends with the records that are there, and only an idle loop waits for the first one`(
        milliseconds: Int
    ) throws {
        let traffic = try FleetTraffic(.imitated)
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: 1)
        let (source, transaction) = (AskedSource(6), MemoryTransaction())
        var options = BatchLoop.Options()
        options.batch.milliseconds = milliseconds
        let loop = lanes.loop(StreamRoles(source: source, transaction: transaction), traffic.settings, options)
        // Three batches fill the loop, whose lanes have done nothing yet.
        while try loop.tick(waitMilliseconds: milliseconds) == .worked {}
        #expect(source.waits == [milliseconds, 0, 0])
        #expect(try lanes.run(loop))
        #expect(transaction.outputs.count == 6)
        #expect(source.windows.allSatisfy { $0 == 0 }, "\(source.windows)")
    }

    @Test(arguments: [(0, 3), (1, 3), (2, 1)])
    func `behind a batch of fewer records than a small one has, none begins before its commit`(
        smallBatch: Int,
        begun: Int
    ) throws {
        let traffic = try FleetTraffic(.imitated)
        let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: 1)
        let (source, transaction) = (AskedSource(6), MemoryTransaction())
        var options = BatchLoop.Options()
        options.smallBatch = smallBatch
        let loop = lanes.loop(StreamRoles(source: source, transaction: transaction), traffic.settings, options)
        while try loop.tick(waitMilliseconds: 0) == .worked {}
        #expect(source.waits.count == begun)
        #expect(try lanes.run(loop))
        #expect(transaction.outputs.count == 6)
    }
}
