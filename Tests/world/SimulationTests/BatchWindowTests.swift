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

    /// Polls until the loop waits for its lanes, which have done nothing yet, and then to the end.
    ///
    /// - Returns: how the first polls were asked to wait, and every poll's window.
    private static func run(
        wait: Int = 0,
        options: (inout BatchLoop.Options) -> Void
    ) throws -> (waits: [Int], windows: [Int]) {
        let (source, transaction) = (AskedSource(6), MemoryTransaction())
        let rig = try TrafficLoop(StreamRoles(source: source, transaction: transaction), options: options)
        while try rig.loop.tick(waitMilliseconds: wait) == .worked {}
        let waits = source.waits
        #expect(try rig.run())
        #expect(transaction.outputs.count == 6)
        return (waits, source.windows)
    }

    @Test(arguments: [1, 100, 60_000])
    func `ends with the records that are there, and only an idle loop waits for the first one`(
        milliseconds: Int
    ) throws {
        let (waits, windows) = try Self.run(wait: milliseconds) { $0.batch.milliseconds = milliseconds }
        // Three batches fill the loop.
        #expect(waits == [milliseconds, 0, 0])
        #expect(windows.allSatisfy { $0 == 0 }, "\(windows)")
    }

    @Test(arguments: [(0, 3), (1, 3), (2, 1)])
    func `behind a batch of fewer records than a small one has, none begins before its commit`(
        smallBatch: Int,
        begun: Int
    ) throws {
        let (waits, _) = try Self.run { $0.smallBatch = smallBatch }
        #expect(waits.count == begun)
    }
}
