internal import Streams

extension SimulatedBroker {
    /// A request that the library has repeated inside a call: the repeat was answered, the first copy comes late.
    struct LateRequest {
        enum Content {
            case end(commit: Bool)
            case offsets([PartitionPosition], SimulatedGroup.Stamp, [Int32: [UInt8]])
            /// AddPartitionsToTxn or AddOffsetsToTxn: of an open transaction they change nothing.
            case addition

            var isEnd: Bool { if case .end = self { true } else { false } }
        }

        let producer: String
        let epoch: Int
        let content: Content
        /// The transactions that there were; any above is a later one.
        let transaction: Int
    }

    /// A request that arrives after its client has given up waiting for it.
    struct LateEffect {
        let due: Int64
        let effect: () -> Void
    }

    func arriveLater(after milliseconds: Int64, _ effect: @escaping () -> Void) {
        lateEffects.append(LateEffect(due: now + milliseconds, effect: effect))
    }

    func arrive() {
        let due = lateEffects.filter { $0.due <= now }
        lateEffects.removeAll { $0.due <= now }
        for late in due { late.effect() }
    }

    /// Late copies arrive in the producer's next transaction, where they do most harm: an EndTxn after a record, a
    /// TxnOffsetCommit after that transaction's own. A producer with a new epoch is safe from them.
    func deliverLate(of name: String, ends: Bool) {
        guard let open = producers[name]?.open, wrong != .lateIsRefused else { return }
        let due = late.filter { $0.producer == name && $0.content.isEnd == ends && $0.transaction <= open }
        late.removeAll { $0.producer == name && $0.content.isEnd == ends && $0.transaction <= open }
        for request in due {
            do throws(BrokerRefusal) {
                switch request.content {
                case .end(let commit): try endTransaction(name, epoch: request.epoch, commit: commit)
                case .offsets(let positions, let stamp, let metadata):
                    try addOffsets(name, epoch: request.epoch, positions, stamp, metadata: metadata)
                case .addition:
                    guard producers[name]?.epoch == request.epoch else { throw .fencedProducer }
                }
            } catch {
                counts.add(.lateRefused)
            }
        }
    }
}
