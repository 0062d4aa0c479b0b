internal import Dispatch
package import Kafka
package import Risk
internal import Threads

/// What other threads tell a refresher's loop, in their order.
package final class RefreshInbox: Sendable {
    package enum Message: Sendable {
        case ended(UInt, CallReply)
        case reports([DeliveryReport])
    }

    private let messages = Locked<[Message]>([])
    private let arrival = DispatchSemaphore(value: 0)

    package init() {}

    package func put(_ message: Message) {
        messages.withLock { $0.append(message) }
        arrival.signal()
    }

    func take() -> [Message] {
        messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }

    /// Waits for a message, or so long.
    package func wait(milliseconds: Int64) {
        guard milliseconds > 0 else { return }
        _ = arrival.wait(timeout: .now() + .milliseconds(Int(clamping: milliseconds)))
    }
}
