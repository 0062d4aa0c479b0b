internal import Crypto
internal import Dispatch
internal import Threads

/// A signing key whose token did not answer when the keys were read: it is away, and a reload opens it once it signs.
package final class SilentKey: DistantKey {
    package let kid: String
    let module: String
    private let opens: @Sendable () -> Bool
    private let hasAnswered = Locked(false)

    /// - Parameter opens: whether it can be opened now.
    package init(kid: String, module: String = "", opens: @escaping @Sendable () -> Bool) {
        (self.kid, self.module, self.opens) = (kid, module, opens)
    }

    package var isAvailable: Bool { hasAnswered.withLock { $0 } }
    package var fault: String? { HSMFault.silent.description }

    package func revive() {
        let answer = opens()
        hasAnswered.withLock { $0 = answer }
    }
}

/// Threads for calls that may hang, each a queue's. One that has returned serves another call.
final class QueueThreads: CallThreads {
    static let shared = QueueThreads()
    private let idle = Locked<[DispatchQueue]>([])

    func run(within limit: Duration, _ work: @escaping @Sendable () -> Void) {
        let queue = idle.withLock { $0.popLast() } ?? DispatchQueue(owner: "token", qos: .userInitiated)
        let ended = DispatchSemaphore(value: 0)
        queue.async { [idle] in
            work()
            idle.withLock { $0.append(queue) }
            ended.signal()
        }
        _ = ended.wait(timeout: .now() + .milliseconds(Int(limit / .milliseconds(1))))
    }
}
