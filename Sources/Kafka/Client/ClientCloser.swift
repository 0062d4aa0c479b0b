internal import Dispatch
internal import Glibc
internal import Synchronization

/// Ends clients, each on a thread of its own, and nobody waits: leaving a group takes as long as its coordinator does, and
/// destroying a client may never end.
///
/// In 2.0.2 it never ends if, at that moment, a fetch finds its offset gone: the broker's thread waits for a lock that it
/// holds itself.
package final class ClientCloser: Sendable {
    /// This process's.
    package static let shared = ClientCloser()

    private struct State {
        var next = 0
        /// Calls that have not returned.
        var open: Set<Int> = []
        /// Those of them that have taken too long.
        var abandoned: Set<Int> = []
    }

    private let state = Mutex(State())
    private let graceMilliseconds: Int

    /// - Parameter graceMilliseconds: after this time a client counts as abandoned.
    init(graceMilliseconds: Int = 5_000) { self.graceMilliseconds = graceMilliseconds }

    /// Clients that could not be ended in time, and keep their threads and memory.
    package var abandoned: Int { state.withLock { $0.abandoned.count } }

    /// Calls that have neither returned nor taken too long.
    private var pending: Int { state.withLock { $0.open.count - $0.abandoned.count } }

    /// Runs the last call of a client.
    func end(_ client: String, _ body: @escaping () -> Void) {
        let number = state.withLock { state in
            state.next += 1
            state.open.insert(state.next)
            return state.next
        }
        let isStarted = DetachedThread.run { [self] in
            body()
            noteEnd(number)
        }
        guard isStarted else {
            // Here, then, and everybody waits: a client that stays behind costs more.
            body()
            return noteEnd(number)
        }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(graceMilliseconds)) { [self] in
            noteTime(number, client)
        }
    }

    private func noteEnd(_ number: Int) {
        state.withLock { state in
            state.open.remove(number)
            state.abandoned.remove(number)
        }
    }

    private func noteTime(_ number: Int, _ client: String) {
        let isLate = state.withLock { $0.open.contains(number) && $0.abandoned.insert(number).inserted }
        guard isLate else { return }
        ClientLog.warn(client: client, facility: "DESTROY", "rd_kafka_destroy hangs: the client keeps its threads")
    }

    /// Waits until each client has ended or is abandoned: a process that exits sooner leaves members in their groups.
    package func finish() {
        while pending > 0 { usleep(Self.lookMicroseconds) }
    }

    private static let lookMicroseconds: UInt32 = 2_000
}
