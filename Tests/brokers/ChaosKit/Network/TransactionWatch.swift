internal import BrokerKit

/// The state of each transactional id, by the answers that its requests got.
struct TransactionWatch {
    private struct State {
        /// Answered EndTxn and InitProducerId.
        var ends = 0
        var isOpen = false
    }

    private var states: [[UInt8]: State] = [:]

    /// The transactions that have ended; a later number is a later transaction.
    func ends(of id: [UInt8]) -> Int { states[id]?.ends ?? 0 }

    /// Whether an open transaction has a record or a partition.
    func isOpen(_ id: [UInt8]) -> Bool { states[id]?.isOpen ?? false }

    mutating func noteAnswer(_ head: RequestHead) {
        guard let id = head.transactionalID else { return }
        switch head.key {
        case .endTransaction, .initProducerID:
            states[id, default: State()].ends += 1
            states[id]?.isOpen = false
        case .produce, .addPartitionsToTransaction, .addOffsetsToTransaction: states[id, default: State()].isOpen = true
        default: break
        }
    }
}
