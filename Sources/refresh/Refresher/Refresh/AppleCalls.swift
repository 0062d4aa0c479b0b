internal import AppAttest
internal import Dispatch
internal import HTTPClient
package import Risk
package import Settings
internal import Threads

/// Makes the calls to Apple.
package protocol CallPort: AnyObject {
    /// Begins a call. Must not wait for anything.
    ///
    /// - Parameter end: called once, on any thread, within the time limit of a call.
    func begin(_ call: ReceiptCall, end: @escaping @Sendable (CallReply) -> Void)
    /// Gives up what is under way; nothing is called back any more.
    func stop()
}

/// Calls to Apple on a thread of their own: the loop waits for none.
package final class AppleCalls: CallPort, Sendable {
    package typealias End = @Sendable (CallReply) -> Void

    private struct State {
        var waiting: [(call: ReceiptCall, end: End)] = []
        var isStopping = false
    }

    private static let busyMilliseconds = 5
    private static let idleMilliseconds = 200

    private let state = Locked(State())
    private let wakeup = DispatchSemaphore(value: 0)

    /// - Throws: ``CommandFault`` where no client can be made.
    package init(_ settings: RiskSettings) throws {
        // A client that cannot be made is found before anything begins; the one that works belongs to its thread.
        _ = try ReceiptCaller(settings)
        DispatchQueue(owner: "risk.calls").async { self.work(settings) }
    }

    package func begin(_ call: ReceiptCall, end: @escaping End) {
        state.withLock { $0.waiting.append((call, end)) }
        wakeup.signal()
    }

    package func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
    }

    private func work(_ settings: RiskSettings) {
        var caller: ReceiptCaller?
        var ends: [UInt64: End] = [:]
        while true {
            if ends.isEmpty { _ = wakeup.wait(timeout: .now() + .milliseconds(Self.idleMilliseconds)) }
            var calls: [(call: ReceiptCall, end: End)] = []
            let isStopping = state.withLock { state in
                swap(&calls, &state.waiting)
                return state.isStopping
            }
            guard !isStopping else { return }
            // Made again where the process had no descriptors left.
            if caller == nil { caller = try? ReceiptCaller(settings) }
            guard let caller else {
                for call in calls { call.end(.failed) }
                continue
            }
            for (call, end) in calls {
                let tag = UInt64(call.number)
                ends[tag] = end
                caller.begin(call.receipt.bytes, call.environment, authorization: call.token, tag: tag)
            }
            for ending in caller.poll(milliseconds: Self.busyMilliseconds, now: WallClock.now) {
                ends.removeValue(forKey: ending.client.tag)?(ending.reply)
            }
        }
    }
}
