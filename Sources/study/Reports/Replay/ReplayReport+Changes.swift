internal import AppCheck
internal import Pipeline
internal import Settings
internal import Streams

/// The outcome of each earlier verdict, for `--diff`.
extension ReplayReport {
    private static let mostChanges = 60
    private static let mostApps = 5

    func changes(_ diff: VerdictDiff) -> [Report.Part] {
        func count(_ isMeant: (OutcomeList.Index, OutcomeList.Index) -> Bool) -> Int {
            diff.entries.reduce(0) { isMeant($1.key.old, $1.key.new) ? $0 + $1.value.records : $0 }
        }
        let share = Figure.share(diff.changed, of: diff.compared)
        var parts: [Report.Part] = [
            .tiles([
                Report.Tile("Compared", .count(diff.compared), "records"),
                Report.Tile("Changed", .count(diff.changed), share, diff.changed > 0 ? .orange : nil),
                Report.Tile("Newly accepted", .count(count { $0 != 0 && $1 == 0 }), "", .blue),
                Report.Tile("No longer accepted", .count(count { $0 == 0 && $1 != 0 }), "", .orange),
            ])
        ]
        if diff.unmatched > 0 { parts.append(.text("\(diff.unmatched.counted("record")) had no earlier result.")) }
        if diff.unseen > 0 {
            parts.append(.text("\(diff.unseen.counted("earlier result")) had no record in this replay."))
        }
        if diff.old.unreadable > 0 {
            let count = diff.old.unreadable.counted("record")
            parts.append(.text("\(count) of the earlier results could not be read."))
        }
        guard diff.changed > 0 else { return parts + [.text("No verdict changed.")] }
        let columns = ["before", "now", "records", "examples"] + (hasApps ? ["apps"] : [])
        parts.append(.table(Report.Table(columns, diff.rows.prefix(Self.mostChanges).map { row($0.change, $0.entry) })))
        let hidden = diff.rows.dropFirst(Self.mostChanges).reduce(0) { $0 + $1.entry.records }
        if hidden > 0 { parts.append(.text("\(hidden.counted("record")) changed in other ways.")) }
        return parts
    }

    private func row(_ change: VerdictDiff.Change, _ entry: VerdictDiff.Entry) -> Report.Row {
        let isOther = change.old == OldVerdicts.otherReason
        let old = isOther ? "a reason of another version" : outcomes.name(Int(change.old))
        let examples = entry.examples.map { Self.text($0) }.joined(separator: ", ")
        let cells: [Report.Value] = [
            .code(old), .code(outcomes.name(Int(change.new))), .count(entry.records), .text(examples),
        ]
        var row = Report.Row(cells + (hasApps ? [.text(apps(entry))] : []))
        // Why it is so now, in full.
        let example = run.commandForAll == nil ? entry.examples.first : nil
        row.command = example.map { run.explains(Self.text($0)) }
        return row
    }

    private func apps(_ entry: VerdictDiff.Entry) -> String {
        let apps = entry.apps.sorted { ($0.value, -$0.key) > ($1.value, -$1.key) }
        let shown = apps.prefix(Self.mostApps).map { app, count in
            let name = app >= 0 ? ShownText.of(facts.settings.registry.apps[app].name) : "no app"
            return "\(count.grouped) \(name)"
        }
        let rest = apps.count - shown.count
        return (shown + (rest > 0 ? ["and \(rest.grouped) more"] : [])).joined(separator: ", ")
    }
}
