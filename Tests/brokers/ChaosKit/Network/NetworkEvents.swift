internal import BrokerKit

/// A network's observations and actions so far.
package struct NetworkEvents: Sendable {
    /// Connections of clients, open now.
    package var connections = 0
    /// The faults that are done, by the number that ``NetworkProxy/plan(_:)`` gave.
    package var done: Set<Int> = []
    package var held: [HeldFrame] = []

    /// Late frames that the broker has answered.
    package var delivered: [HeldFrame] { held.filter { $0.answer != nil } }
}

/// A request that was taken out of its connection.
package struct HeldFrame: Sendable {
    package enum State: Sendable, Equatable {
        case held
        case underway
        /// The broker's answer without its length; at most some hundred bytes of it.
        case answered([UInt8])
        /// No connection, or no answer in time.
        case failed
    }

    package let fault: Int
    package let head: RequestHead
    package let broker: Int
    var bytes: [UInt8] = []
    var release = NetworkFault.Release.byHand
    /// The ended transactions of its transactional id when it was taken.
    var ends = 0
    package var state = State.held
    /// Whether a later transaction of the same transactional id was open when it was delivered.
    package var metLaterTransaction = false

    package var answer: [UInt8]? { if case .answered(let bytes) = state { bytes } else { nil } }

    /// The broker's verdict on a late EndTxn or AddOffsetsToTxn: the error code after correlation id and throttle time.
    package var errorCode: Int16? {
        guard [.endTransaction, .addOffsetsToTransaction].contains(head.key), let answer else { return nil }
        let flexible = head.version >= (head.key.firstFlexibleVersion ?? .max)
        var reader = FrameReader(answer, from: flexible ? 9 : 8)
        return reader.int16()
    }
}
