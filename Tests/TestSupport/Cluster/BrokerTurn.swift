import Dispatch
package import Testing

/// Lets few suites with brokers of their own run at a time: thirty brokers on a small machine leave no deadline its time.
///
/// Their tests block, so they run on threads of their own and leave the pool to the tests that compute.
package struct BrokerTurn: SuiteTrait, TestScoping {
    /// 1 for a broker, 2 for a cluster of three.
    let weight: Int

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.run(weight: weight, function)
    }

    static func run(weight: Int, _ function: @Sendable () async throws -> Void) async throws {
        await BrokerTurns.shared.enter(weight)
        let result: Result<Void, any Error>
        do {
            try await withTaskExecutorPreference(BlockingExecutor.shared) { try await function() }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await BrokerTurns.shared.leave(weight)
        try result.get()
    }
}

extension Trait where Self == BrokerTurn {
    /// For a suite whose tests start clusters themselves; see ``BrokerTurn``.
    package static var brokerTurn: Self { BrokerTurn(weight: 2) }
}

/// Admits suites in the order in which they came, up to a total weight.
private actor BrokerTurns {
    static let shared = BrokerTurns()

    private var free = 6
    private var waiting: [(weight: Int, continuation: CheckedContinuation<Void, Never>)] = []

    func enter(_ weight: Int) async {
        if waiting.isEmpty, free >= weight {
            free -= weight
            return
        }
        await withCheckedContinuation { waiting.append((weight, $0)) }
    }

    func leave(_ weight: Int) {
        free += weight
        while let next = waiting.first, free >= next.weight {
            free -= next.weight
            waiting.removeFirst().continuation.resume()
        }
    }
}

private final class BlockingExecutor: TaskExecutor {
    static let shared = BlockingExecutor()

    private let queue = DispatchQueue(label: "broker-tests", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
