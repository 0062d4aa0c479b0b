package import AppAttest
internal import Crypto
internal import DeviceLab
package import Pipeline
package import Streams

/// Lanes and loop thread in one, under a seed: jobs finish in an order that the seed chooses, on one real thread.
///
/// With several lanes' scratches a job is cut into small grains, each on a lane and in an order that the seed chooses.
package final class SimulatedLanes: LaneRunner, @unchecked Sendable {
    package let isEngineStopped = false
    // Confined to the test's thread.
    private var random: SeededRandom
    private let scratches: [LaneScratch]
    private let isShuffled: Bool
    private var jobs: [() -> Void] = []

    package init(scratch: LaneScratch, seed: UInt64) {
        (scratches, isShuffled) = ([scratch], false)
        random = SeededRandom(seed: seed)
    }

    package init(shuffling scratches: [LaneScratch], seed: UInt64) {
        (self.scratches, isShuffled) = (scratches, true)
        random = SeededRandom(seed: seed)
    }

    package func run<Output: Sendable>(
        count: Int,
        grain: Int,
        priority: LanePriority,
        _ body: @escaping @Sendable (Range<Int>, LaneScratch) -> [Output],
        completion: @escaping @Sendable ([Output]) -> Void
    ) {
        jobs.append { [self] in
            let size = scratches.count == 1 ? grain : 1 + Int.random(in: 0..<6, using: &random)
            let starts = Array(stride(from: 0, to: count, by: size))
            var outputs: [Int: [Output]] = [:]
            for start in isShuffled ? starts.shuffled(using: &random) : starts {
                let lane = scratches.count == 1 ? 0 : Int.random(in: 0..<scratches.count, using: &random)
                outputs[start] = body(start..<min(start + size, count), scratches[lane])
            }
            completion(starts.flatMap { outputs[$0] ?? [] })
        }
    }

    /// Runs a block as another job, whenever the seed picks it.
    package func later(_ block: @escaping () -> Void) { jobs.append(block) }

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
            // There is only one thread.
            post: { $0() },
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
