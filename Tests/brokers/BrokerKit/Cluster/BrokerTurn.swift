internal import TestKit
package import Testing

/// Lets few suites with brokers of their own run at a time: thirty brokers on a small machine leave no deadline its time.
///
/// Their tests block, so they run on threads of their own and leave the pool to the tests that compute.
package struct BrokerTurn: SuiteTrait, TestScoping {
    /// 1 for a broker, 2 for a cluster of three, 3 for chaos runs.
    let weight: Int
    /// Takes many minutes: such suites begin first, so that none is left alone in the end.
    var isLong = false

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.run(weight: weight, isLong: isLong, function)
    }

    /// The milliseconds that others wait for long suites to come, and those for the heaviest: all come at once.
    private static let politeness = 500

    static func run(weight: Int, isLong: Bool, _ function: @Sendable () async throws -> Void) async throws {
        if !isLong || weight < BrokerTurns.heaviest {
            // It orders the suites and decides no test, and holds no thread.
            await withCheckedContinuation { turn in
                later(milliseconds: isLong ? politeness : politeness * 2) { turn.resume() }
            }
        }
        await BrokerTurns.shared.enter(weight, isLong: isLong)
        do {
            try await withTaskExecutorPreference(BlockingExecutor.many) { try await function() }
        } catch {
            await BrokerTurns.shared.leave(weight)
            throw error
        }
        await BrokerTurns.shared.leave(weight)
    }
}

extension Trait where Self == BrokerTurn {
    /// For a suite whose tests start clusters and many processes themselves.
    package static var chaosTurn: Self { BrokerTurn(weight: BrokerTurns.heaviest, isLong: true) }
}

/// Admits suites up to a total weight: the long ones first, and no other while one of those waits for room.
private actor BrokerTurns {
    static let shared = BrokerTurns()
    static let most = 6
    static let heaviest = most / 2

    private var free = most
    private var waiting: [(weight: Int, isLong: Bool, continuation: CheckedContinuation<Void, Never>)] = []

    func enter(_ weight: Int, isLong: Bool) async {
        if free >= weight, isLong || !waiting.contains(where: \.isLong) {
            free -= weight
            return
        }
        await withCheckedContinuation { waiting.append((weight, isLong, $0)) }
    }

    func leave(_ weight: Int) {
        free += weight
        while let next = waiting.firstIndex(where: \.isLong) ?? waiting.firstIndex(where: { $0.weight <= free }),
            waiting[next].weight <= free
        {
            free -= waiting[next].weight
            waiting.remove(at: next).continuation.resume()
        }
    }
}
