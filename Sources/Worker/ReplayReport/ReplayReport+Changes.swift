internal import AppCheck
internal import Log
internal import Pipeline
internal import Settings

/// With `--diff`: what became of each earlier verdict.
extension ReplayReport {
    private static let mostChanges = 60

    func changes(_ diff: VerdictDiff, _ page: inout Markup) {
        page.element("div", ["class": "tiles"]) { tiles in
            Markup.tile("Compared", diff.compared.grouped, "records", "", &tiles)
            let share = Figure.share(diff.changed, of: diff.compared)
            Markup.tile("Changed", diff.changed.grouped, share, diff.changed > 0 ? "t-no" : "", &tiles)
            let (gained, lost) = (count(diff) { $0 != 0 && $1 == 0 }, count(diff) { $0 == 0 && $1 != 0 })
            Markup.tile("Newly accepted", gained.grouped, "", "t-ok", &tiles)
            Markup.tile("No longer accepted", lost.grouped, "", "t-no", &tiles)
        }
        if diff.unmatched > 0 { page.note("\(Figure.count(diff.unmatched, "record")) had no earlier result.") }
        if diff.leftOver > 0 {
            page.note("\(Figure.count(diff.leftOver, "earlier result")) had no record in this replay.")
        }
        if diff.old.unreadable > 0 {
            page.note("\(Figure.count(diff.old.unreadable, "record")) of the earlier results could not be read.")
        }
        guard diff.changed > 0 else { return page.note("No verdict changed.") }
        page.card { card in
            let columns = ["before", "now", "records", "examples"] + (hasApps ? ["apps"] : [])
            card.table(columns, leftAligned: [1, 3, 4]) { body in
                for (change, entry) in diff.rows.prefix(Self.mostChanges) { row(change, entry, &body) }
            }
            let hidden = diff.rows.dropFirst(Self.mostChanges).reduce(0) { $0 + $1.entry.records }
            if hidden > 0 { card.note("\(Figure.count(hidden, "record")) changed in other ways.") }
        }
    }

    private func count(_ diff: VerdictDiff, _ isMeant: (OutcomeList.Index, OutcomeList.Index) -> Bool) -> Int {
        diff.entries.reduce(0) { isMeant($1.key.old, $1.key.new) ? $0 + $1.value.records : $0 }
    }

    private func row(_ change: VerdictDiff.Change, _ entry: VerdictDiff.Entry, _ body: inout Markup) {
        body.element("tr") { row in
            row.element("td") { $0.element("code", name(ofOld: change.old)) }
            row.element("td", ["class": "l"]) { $0.element("code", outcomes.name(Int(change.new))) }
            row.element("td", entry.records.grouped)
            row.element("td", ["class": "l w"], entry.examples.map { Self.text($0) }.joined(separator: ", "))
            if hasApps { row.element("td", ["class": "l w"]) { apps(entry, &$0) } }
        }
        // Why it is so now, in full.
        guard let example = entry.examples.first, run.commandForAll == nil else { return }
        body.element("tr", ["class": "more"]) { row in
            row.element("td", ["colspan": hasApps ? "5" : "4"]) { cell in
                cell.element("code", ShownText.whole(run.explains(Self.text(example))))
            }
        }
    }

    private var hasApps: Bool { facts.settings.registry.apps.count > 1 }

    private static let mostApps = 5

    private func apps(_ entry: VerdictDiff.Entry, _ cell: inout Markup) {
        let apps = entry.apps.sorted { ($0.value, -$0.key) > ($1.value, -$1.key) }
        for (app, count) in apps.prefix(Self.mostApps) {
            cell.element("div") { line in
                line.text("\(count.grouped) ")
                if app >= 0 { line.foreign(facts.settings.registry.apps[app].name) } else { line.text("no app") }
            }
        }
        let rest = apps.count - Self.mostApps
        if rest > 0 { cell.element("div", "and \(rest.grouped) more") }
    }

    private func name(ofOld old: OutcomeList.Index) -> String {
        old == OldVerdicts.otherReason ? "a reason of another version" : outcomes.name(Int(old))
    }
}
