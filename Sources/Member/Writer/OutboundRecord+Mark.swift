internal import Log
internal import Pipeline

extension OutboundRecord {
    /// Makes a ledger partition forget up to where its requests were applied.
    static func forgottenMark(of partition: Int32) -> OutboundRecord {
        let (key, value) = LedgerCodec.encode(.markForgotten)
        return OutboundRecord(
            stream: .ledger,
            partition: partition,
            sourceOffset: -1,
            sourceTimestamp: -1,
            key: key,
            value: value
        )
    }
}

extension [OutboundRecord] {
    /// The ledger's records but ``ledgerMarks``.
    var ledgerFacts: [OutboundRecord] {
        let last = lastOfLedgers
        return enumerated().filter { $1.stream == .ledger && !(last[$1.partition] == $0 && $1.isMark) }.map(\.element)
    }

    /// The last record of each ledger, where it is a mark.
    var ledgerMarks: [OutboundRecord] {
        let last = lastOfLedgers
        return enumerated().filter { $1.stream == .ledger && last[$1.partition] == $0 && $1.isMark }.map(\.element)
    }

    private var lastOfLedgers: [Int32: Int] {
        var last: [Int32: Int] = [:]
        for (index, record) in enumerated() where record.stream == .ledger { last[record.partition] = index }
        return last
    }
}

extension OutboundRecord {
    fileprivate var isMark: Bool { key == Self.markKey }
    private static let markKey = LedgerCodec.encode(.markForgotten).key
}
