internal import Crypto
internal import Threads

/// Threads of a simulation: a call runs in place, or hangs until it is released.
package final class ParkingThreads: CallThreads {
    private let state = Locked((hangs: false, parked: [@Sendable () -> Void]()))

    package init() {}

    package var parked: Int { state.withLock { $0.parked.count } }

    /// - Parameter hangs: what begins from now on.
    package func set(hangs: Bool) { state.withLock { $0.hangs = hangs } }

    package func run(within limit: Duration, _ work: @escaping @Sendable () -> Void) {
        let hangs = state.withLock { state in
            if state.hangs { state.parked.append(work) }
            return state.hangs
        }
        if !hangs { work() }
    }

    /// Lets all that hangs return.
    package func release() {
        let works = state.withLock { state in
            defer { state.parked = [] }
            return state.parked
        }
        for work in works { work() }
    }
}
