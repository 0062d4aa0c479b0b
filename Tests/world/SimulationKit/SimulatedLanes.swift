package import AppAttest
internal import Crypto
internal import DeviceLab
package import Pipeline
package import Streams

/// Lanes and loop thread in one, under a seed: jobs finish in an order that the seed chooses, on one real thread.
package final class SimulatedLanes: LaneRunner, @unchecked Sendable {
    package let isEngineStopped = false
    // Confined to the test's thread.
    private var random: SeededRandom
    private let scratch: LaneScratch
    private var jobs: [() -> Void] = []

    package init(scratch: LaneScratch, seed: UInt64) {
        self.scratch = scratch
        random = SeededRandom(seed: seed)
    }

    package func run<Output: Sendable>(
        count: Int,
        grain: Int,
        priority: LanePriority,
        _ body: @escaping @Sendable (Range<Int>, LaneScratch) -> [Output],
        completion: @escaping @Sendable ([Output]) -> Void
    ) {
        jobs.append { [scratch] in
            var outputs: [Output] = []
            for start in stride(from: 0, to: count, by: grain) {
                outputs += body(start..<min(start + grain, count), scratch)
            }
            completion(outputs)
        }
    }

    /// Runs a block as another job, whenever the seed picks it.
    package func later(_ block: @escaping () -> Void) { jobs.append(block) }

    /// Runs blocks on the loop's thread immediately: there is only one thread.
    package let post: @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }

    /// Whether there is a job to finish.
    package var hasJobs: Bool { !jobs.isEmpty }

    /// Finishes one job that the seed picks. - Returns: false if no job is left.
    package func finishOne() -> Bool {
        guard !jobs.isEmpty else { return false }
        jobs.remove(at: Int.random(in: 0..<jobs.count, using: &random))()
        return true
    }

    /// A loop on these lanes; without a clock as in a replay.
    package func loop(
        _ streams: StreamRoles,
        _ settings: PipelineSettings,
        _ options: BatchLoop.Options = BatchLoop.Options(),
        ledgers: [Int32: PartitionLedger] = [:],
        wallClock: @escaping @Sendable () -> EvaluationTime? = { nil },
        uptime: (@Sendable () -> Int64?)? = nil,
        notice: @escaping @Sendable (any SourceFault) -> Void = { _ in }
    ) -> BatchLoop {
        BatchLoop(
            streams: streams,
            settings: settings,
            lanes: self,
            options: options,
            ledgers: ledgers,
            post: post,
            wallClock: wallClock,
            uptime: uptime,
            notice: notice
        )
    }

    /// Runs a loop to its end, interleaving its ticks with the jobs as the seed says.
    ///
    /// - Returns: false when it had not finished after `steps` steps.
    package func run(_ loop: BatchLoop, steps: Int = 1_000_000) throws -> Bool {
        for _ in 0..<steps {
            if !jobs.isEmpty, Bool.random(using: &random) {
                _ = finishOne()
                continue
            }
            switch try loop.tick(waitMilliseconds: 0) {
            case .worked, .backOff: continue
            case .waiting: _ = finishOne()
            case .finished: return true
            }
        }
        return false
    }
}
