internal import Pipeline
internal import Streams

extension OutboundRecord {
    /// The mark that makes a ledger partition forget the offset up to which its requests were applied.
    static func forgottenMark(of partition: Int32) -> OutboundRecord {
        OutboundRecord(.markForgotten, partition: partition)
    }
}

extension [OutboundRecord] {
    /// The ledger's records in parts: marks that come first, facts, bans, the marks that say that these are whole, and
    /// what is forgotten behind them. A record may fail while the ones after it arrive, so no part is written before the
    /// one before it has arrived. A ban whose key's record was lost would refuse the key's answered requests when they
    /// are read again.
    var ledgerParts: ArraySlice<[OutboundRecord]> {
        let ledger = filter { $0.stream == .ledger }
        var marks: [Int32: Int] = [:]
        for (index, record) in ledger.enumerated() where record.ledgerKind == .mark { marks[record.partition] = index }
        var parts = [[OutboundRecord]](repeating: [], count: 5)
        for (index, record) in ledger.enumerated() {
            let mark = marks[record.partition] ?? ledger.count
            let part =
                switch record.ledgerKind {
                case .mark: index == mark ? 3 : 0
                case .ban where index < mark: 2
                default: index < mark ? 1 : 4
                }
            parts[part].append(record)
        }
        return parts.filter { !$0.isEmpty }[...]
    }
}

extension OutboundRecord {
    fileprivate var ledgerKind: LedgerCodec.Kind? { key.flatMap(LedgerCodec.kind(of:)) }
}
