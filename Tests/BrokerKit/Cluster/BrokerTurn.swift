internal import TestKit
package import Testing

/// Lets few suites with brokers of their own run at a time: thirty brokers on a small machine leave no deadline its time.
///
/// Their tests block, so they run on threads of their own and leave the pool to the tests that compute.
package struct BrokerTurn: SuiteTrait, TestScoping {
    /// 1 for a broker, 2 for a cluster of three, 3 for chaos runs.
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
            try await withTaskExecutorPreference(BlockingExecutor.many) { try await function() }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await BrokerTurns.shared.leave(weight)
        try result.get()
    }
}

extension Trait where Self == BrokerTurn {
    /// For a suite whose tests start clusters and many processes themselves.
    package static var chaosTurn: Self { BrokerTurn(weight: BrokerTurns.most / 2) }
}

/// Admits suites up to a total weight, the heaviest first: it takes longest, so nothing lighter overtakes it.
private actor BrokerTurns {
    static let shared = BrokerTurns()
    static let most = 8

    private var free = most
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
        while let heaviest = waiting.map(\.weight).max(), heaviest <= free,
            let next = waiting.firstIndex(where: { $0.weight == heaviest })
        {
            free -= heaviest
            waiting.remove(at: next).continuation.resume()
        }
    }
}
