internal import Foundation
package import Testing

/// Runs tests that mostly wait, for a mock cluster or another process, outside of the pool: it has one thread for each
/// core, which is for tests that compute.
///
/// For a suite as a whole: around each test alone, tests that wait would hold the runner's few places (392 s, not 221 s).
package struct WaitingTests: SuiteTrait, TestScoping {
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(BlockingExecutor.few) { try await function() }
    }
}

extension Trait where Self == WaitingTests {
    /// For a suite whose tests mostly wait.
    package static var waiting: Self { WaitingTests() }
}

/// Runs a test that starts itself as another process outside of the pool. Until such a process has been collected, the
/// runner's thread that waits for processes does so without a pause, at the cost of a core: a busy pool takes a minute.
package struct ProcessTest: TestTrait, TestScoping {
    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(BlockingExecutor.many) { try await function() }
    }
}

extension Trait where Self == ProcessTest {
    /// For a test with `processExitsWith`.
    package static var startsItself: Self { ProcessTest() }
}

/// Threads on which tests may block.
package final class BlockingExecutor: TaskExecutor {
    /// More tests at a time would make each of them slow on a small machine.
    static let few = BlockingExecutor(threads: 10)
    /// For what limits itself.
    package static let many = BlockingExecutor(threads: 64)

    private let queue = OperationQueue()

    private init(threads: Int) { queue.maxConcurrentOperationCount = threads }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
