internal import Glibc
internal import KafkaPorts
internal import Synchronization

/// Ends clients on separate threads, and nobody waits: leaving a group takes as long as its coordinator does, and
/// destroying a client may never end.
///
/// In 2.0.2 it never ends if, at that moment, a fetch finds its offset gone: the broker's thread waits for a lock that it
/// holds itself.
package final class ClientCloser: Sendable {
    /// The closer of this process.
    package static let shared = ClientCloser()

    /// A client's last call: under way, then late or over.
    private final class LastCall: Sendable {
        private static let (underWay, late, over) = (0, 1, 2)
        private let phase = Atomic(underWay)

        /// - Returns: false where it is over.
        func noteLate() -> Bool {
            phase.compareExchange(expected: Self.underWay, desired: Self.late, ordering: .acquiringAndReleasing)
                .exchanged
        }

        /// - Returns: whether it was late.
        func noteEnd() -> Bool { phase.exchange(Self.over, ordering: .acquiringAndReleasing) == Self.late }
    }

    private let pending = Atomic(0)
    private let late = Atomic(0)
    private let graceMilliseconds: Int

    /// - Parameter graceMilliseconds: after this time a client counts as abandoned.
    init(graceMilliseconds: Int = 5_000) { self.graceMilliseconds = graceMilliseconds }

    /// Clients that could not be ended in time, and keep their threads and memory.
    package var abandoned: Int { late.load(ordering: .relaxed) }

    /// Runs the last call of a client, and returns at once.
    func end(_ client: String, _ body: @escaping () -> Void) {
        pending.wrappingAdd(1, ordering: .relaxed)
        let work = { [self] in
            do throws(KafkaFault) { try run(client, limitMilliseconds: graceMilliseconds, body) } catch {
                ClientLog.warn(
                    client: client,
                    facility: "DESTROY",
                    "rd_kafka_destroy hangs: the client keeps its threads"
                )
            }
            pending.wrappingSubtract(1, ordering: .releasing)
        }
        // If no thread can start, the call runs here, and everybody waits.
        if !DetachedThread.run(work) { work() }
    }

    /// Runs the last call of a client and waits for it.
    ///
    /// - Throws: a time-out. The call goes on, and the client counts as abandoned until it has returned.
    func run(_ action: String, limitMilliseconds: Int, _ body: @escaping () -> Void) throws(KafkaFault) {
        let call = LastCall()
        do throws(KafkaFault) {
            _ = try unsafe BoundedCall.run(action, timeoutMilliseconds: limitMilliseconds) { [self] in
                body()
                if call.noteEnd() { late.wrappingSubtract(1, ordering: .relaxed) }
                return nil
            }
        } catch {
            // If no thread can start, the call runs here.
            guard error.isTimeout else { return body() }
            guard call.noteLate() else { return }
            late.wrappingAdd(1, ordering: .relaxed)
            throw error
        }
    }

    /// Waits until each client has ended or is abandoned: a process that exits sooner leaves members in their groups.
    package func finish() {
        while pending.load(ordering: .acquiring) > 0 { usleep(Self.lookMicroseconds) }
    }

    private static let lookMicroseconds: UInt32 = 2_000
}
