internal import Threads

/// Where calls of a foreign library run.
package protocol CallThreads: Sendable {
    /// Runs `work` on a thread of its own, and waits for its end until the limit; then the thread is left to it.
    func run(within limit: Duration, _ work: @escaping @Sendable () -> Void)
}

/// Calls that may never return: nobody waits for one beyond its limit, and none begins while too many are inside.
package final class BoundedCalls: Sendable {
    private let threads: any CallThreads
    private let most: Int
    private let inside = Locked(0)

    package init(on threads: any CallThreads, most: Int) { (self.threads, self.most) = (threads, most) }

    /// - Parameter late: takes, on the call's thread, what it brings when nobody waits any more.
    /// - Returns: nil where the call is late, or did not begin.
    package func run<Value: Sendable>(
        within limit: Duration,
        _ body: @escaping @Sendable () -> Value,
        late: @escaping @Sendable (Value) -> Void = { _ in }
    ) -> Value? {
        let begins = inside.withLock { inside in
            guard inside < most else { return false }
            inside += 1
            return true
        }
        guard begins else { return nil }
        let outcome = Locked((value: Value?.none, isLeft: false))
        threads.run(within: limit) { [inside] in
            let value = body()
            let isLeft = outcome.withLock { outcome in
                outcome.value = value
                return outcome.isLeft
            }
            if isLeft { late(value) }
            inside.withLock { $0 -= 1 }
        }
        return outcome.withLock { outcome in
            outcome.isLeft = true
            return outcome.value
        }
    }
}
