internal import Threads

/// Short stages go before long ones, so that the oldest batch leaves before the next ones are verified. What waits for
/// others more than it computes, as a signature by a key that is held elsewhere, keeps no lane from its work.
package enum LanePriority: Sendable { case high, normal, waiting }

/// Runs the parallel stages of a batch: production uses ``DispatchLanes``, simulation runs them in place.
package protocol LaneRunner: Sendable {
    /// Whether the lanes' signature engine was found wrong: what runs from then on is verified by OpenSSL on every lane.
    var isEngineStopped: Bool { get }

    /// Cuts `0 ..< count` into grains of at most `grain`, runs `body` on each of them on some lane and calls `completion`
    /// with the joined results, in order, on the thread that finished last. Returns at once.
    func run<Output: Sendable>(
        count: Int,
        grain: Int,
        priority: LanePriority,
        _ body: @escaping @Sendable (Range<Int>, LaneScratch) -> [Output],
        completion: @escaping @Sendable ([Output]) -> Void
    )
}

/// Runs everything at once on the calling thread: deterministic, for simulation and tests.
package final class InlineLanes: LaneRunner, @unchecked Sendable {
    package let isEngineStopped = false
    private let scratch: LaneScratch

    package init(scratch: LaneScratch) { self.scratch = scratch }

    package func run<Output: Sendable>(
        count: Int,
        grain: Int,
        priority: LanePriority,
        _ body: @escaping @Sendable (Range<Int>, LaneScratch) -> [Output],
        completion: @escaping @Sendable ([Output]) -> Void
    ) {
        scratch.owner.check()
        var outputs: [Output] = []
        outputs.reserveCapacity((count + grain - 1) / grain)
        for start in stride(from: 0, to: count, by: grain) {
            outputs += body(start..<min(start + grain, count), scratch)
        }
        completion(outputs)
    }
}
