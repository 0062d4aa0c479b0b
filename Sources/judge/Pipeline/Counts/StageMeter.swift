internal import Synchronization

/// The processor time of each stage, over all threads: what aborted batches cost counts too.
package final class StageMeter: Sendable {
    /// Nanoseconds of processor time that the calling thread has used.
    package typealias Clock = @Sendable () -> Int64

    private let clock: Clock?
    private let decoding = Atomic<Int64>(0)
    private let resolving = Atomic<Int64>(0)
    private let verifying = Atomic<Int64>(0)
    private let admitting = Atomic<Int64>(0)
    private let encoding = Atomic<Int64>(0)

    /// - Parameter clock: nil = nothing is measured.
    package init(clock: Clock? = nil) { self.clock = clock }

    /// Nanoseconds so far.
    package subscript(stage: WorkStage) -> Int64 {
        switch stage {
        case .decoding: decoding.load(ordering: .relaxed)
        case .resolving: resolving.load(ordering: .relaxed)
        case .verifying: verifying.load(ordering: .relaxed)
        case .admitting: admitting.load(ordering: .relaxed)
        case .encoding: encoding.load(ordering: .relaxed)
        }
    }

    /// Runs `body`, and counts its time: once for a grain, never for a record.
    func during<Result>(_ stage: WorkStage, _ body: () -> Result) -> Result {
        guard let clock else { return body() }
        let began = clock()
        defer { add(clock() - began, to: stage) }
        return body()
    }

    private func add(_ nanoseconds: Int64, to stage: WorkStage) {
        switch stage {
        case .decoding: decoding.add(nanoseconds, ordering: .relaxed)
        case .resolving: resolving.add(nanoseconds, ordering: .relaxed)
        case .verifying: verifying.add(nanoseconds, ordering: .relaxed)
        case .admitting: admitting.add(nanoseconds, ordering: .relaxed)
        case .encoding: encoding.add(nanoseconds, ordering: .relaxed)
        }
    }
}
