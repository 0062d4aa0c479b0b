internal import Pipeline
internal import Streams

extension OutboundRecord {
    /// The mark that makes a ledger partition forget the offset up to which its requests were applied.
    static func forgottenMark(of partition: Int32) -> OutboundRecord {
        OutboundRecord(.markForgotten, partition: partition)
    }
}

extension [OutboundRecord] {
    /// The ledger's records in parts: marks that come first, facts, and the marks that say that these are whole. A record may
    /// fail while the ones after it arrive, so no part is written before the one before it has arrived.
    var ledgerParts: ArraySlice<[OutboundRecord]> {
        var last: [Int32: Int] = [:]
        for (index, record) in enumerated() where record.stream == .ledger { last[record.partition] = index }
        var (first, facts, marks): ([OutboundRecord], [OutboundRecord], [OutboundRecord]) = ([], [], [])
        for (index, record) in enumerated() where record.stream == .ledger {
            if !record.isMark {
                facts.append(record)
            } else if last[record.partition] == index {
                marks.append(record)
            } else {
                first.append(record)
            }
        }
        return [first, facts, marks].filter { !$0.isEmpty }[...]
    }
}

extension OutboundRecord {
    var isMark: Bool { key == Self.markKey }
    private static let markKey = LedgerCodec.encode(.markForgotten).key
}
