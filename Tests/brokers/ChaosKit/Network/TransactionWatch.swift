internal import BrokerKit

/// The state of each transactional id, by the answers that its requests got.
struct TransactionWatch {
    /// Answered EndTxn and InitProducerId.
    private var ends: [[UInt8]: Int] = [:]
    private var open: Set<[UInt8]> = []

    /// The transactions that have ended; a later number is a later transaction.
    func ends(of id: [UInt8]) -> Int { ends[id] ?? 0 }

    /// Whether an open transaction has a record or a partition.
    func isOpen(_ id: [UInt8]) -> Bool { open.contains(id) }

    mutating func noteAnswer(_ head: RequestHead) {
        guard let id = head.transactionalID else { return }
        switch head.key {
        case .endTransaction, .initProducerID:
            ends[id, default: 0] += 1
            open.remove(id)
        case .produce, .addPartitionsToTransaction, .addOffsetsToTransaction: open.insert(id)
        default: break
        }
    }
}
