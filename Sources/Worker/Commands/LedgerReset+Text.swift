internal import Broker
internal import Log
internal import Pipeline
internal import Settings

extension LedgerReset {
    /// The plan as a table.
    var text: String {
        func number(_ offset: Int64?) -> String { offset.map { Int($0).grouped } ?? "none" }
        var table = TextTable([.right, .right, .right, .right] + (scope.keepsLedger ? [.right] : []))
        if scope.keepsLedger {
            table.add("partition", "offset", "applied", "new offset", "ledger records kept")
        } else {
            table.add("partition", "offset", "new offset", "ledger records to forget")
        }
        for row in rows {
            let applied = scope.keepsLedger ? [number(row.mark?.position.appliedOffset)] : []
            let places = [number(row.offsets.committed)] + applied
            table.add([String(row.offsets.partition)] + places + [number(row.target), row.live.grouped])
        }
        return "group \(group), requests \(access.topics.requests), ledger \(access.topic)\n" + table.text
    }
}
