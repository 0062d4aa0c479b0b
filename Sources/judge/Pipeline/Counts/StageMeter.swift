internal import Threads

/// The processor time of each stage, over all threads: what aborted batches cost counts too.
package final class StageMeter: Sendable {
    /// Nanoseconds of processor time that the calling thread has used.
    package typealias Clock = @Sendable () -> Int64

    private let clock: Clock?
    /// Nanoseconds by the stages' numbers, which begin with 1.
    private let times = Locked([Int64](repeating: 0, count: WorkStage.allCases.count + 1))

    /// - Parameter clock: nil = nothing is measured.
    package init(clock: Clock? = nil) { self.clock = clock }

    /// Nanoseconds so far.
    package subscript(stage: WorkStage) -> Int64 { times.withLock { $0[Int(stage.rawValue)] } }

    /// Runs `body`, and counts its time: once for a grain, never for a record.
    func during<Result>(_ stage: WorkStage, _ body: () -> Result) -> Result {
        guard let clock else { return body() }
        let began = clock()
        defer {
            let time = clock() - began
            times.withLock { $0[Int(stage.rawValue)] += time }
        }
        return body()
    }
}
