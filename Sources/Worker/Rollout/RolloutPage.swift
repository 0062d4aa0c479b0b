internal import AppAttest
internal import AppCheck
internal import Settings

/// The page of `rollout --report`: per app how the share grew, how devices fared, and whether it may grow.
struct RolloutPage {
    let report: RolloutReport
    /// Milliseconds since 1970; nil = all events.
    let since: Int64?
    let version: String
    /// Where the events came from.
    let source: String

    var html: [UInt8] {
        let span = since.map { "Events since \(UTCText.of($0))." } ?? "All events."
        var page = ReportPage(
            title: "attest-worker: how the rollout goes",
            lead:
                "\(span) \(report.events.counted("event", "was", "were")) read. All times here are UTC."
        )
        for (index, name) in report.names.enumerated() {
            page.add("app\(index)", name) { RolloutSection(report, name).write(into: &$0) }
        }
        page.add("about", "About this page") { about(&$0) }
        return page.bytes
    }

    private func about(_ page: inout Markup) {
        page.note(
            "A device counts once, and once in each column of time: as succeeded if one of its attestations succeeded, "
                + "else as failed if one was decided, else as not admitted. A failed device counts for the alphabetically "
                + "first of its reasons. Intervals are Wilson's, 95 %. Assertions are not gated; they are counted as events."
        )
        page.card { card in
            card.table(["", ""], leftAligned: [1]) { body in
                for (name, value) in [
                    ("program", "attest-worker \(version)"), ("events from", source),
                    ("records that are no events", report.unreadable.grouped),
                ] {
                    body.element("tr") { row in
                        row.element("td", name)
                        row.element("td", ["class": "l w"]) { $0.foreign(value) }
                    }
                }
            }
        }
    }
}

/// One app of the page.
struct RolloutSection {
    private let report: RolloutReport
    private let name: String
    private let facts: RolloutFacts
    private let rollout: Rollout?

    init(_ report: RolloutReport, _ name: String) {
        (self.report, self.name) = (report, name)
        facts = report.facts[name] ?? RolloutFacts()
        rollout = report.rollout(of: name)
    }

    func write(into page: inout Markup) {
        let total = facts.total
        tiles(total, &page)
        growth(&page)
        guard total.decided + total.notAdmitted > 0 else {
            return page.note("No attestation of this app has an event.")
        }
        if let columns = facts.columns { charts(columns, &page) }
        reasons(&page)
        values(total, &page)
    }

    private func tiles(_ total: DeviceCounts, _ page: inout Markup) {
        page.element("div", ["class": "tiles"]) { tiles in
            let share = rollout.map { Rollout.percentText($0.parts) + "\u{202F}%" } ?? "–"
            Markup.tile("Share now", share, "mode " + (rollout?.mode.rawValue ?? "unknown"), "", &tiles)
            let again = facts.recovered > 0 ? "\(facts.recovered.grouped) of them after a failure" : ""
            Markup.tile("Devices succeeded", total.succeeded.grouped, again, "t-ok", &tiles)
            let interval = Wilson(total.failed, of: total.decided)
            let rate = interval.map { "\(Figure.share(total.failed, of: total.decided)) (\($0.text))" } ?? ""
            Markup.tile("Devices failed", total.failed.grouped, rate, "t-no", &tiles)
            Markup.tile("Devices not admitted", total.notAdmitted.grouped, "", "t-later", &tiles)
            let (succeeded, failed) = facts.assertions
            Markup.tile("Assertions", succeeded.grouped, "\(failed.grouped) failed", "", &tiles)
        }
    }

    private func growth(_ page: inout Markup) {
        let (mayGrow, why) = report.judgement(of: name)
        let next = rollout.flatMap { GrowthRule.next(after: $0.parts) }.map { Rollout.percentText($0) + "\u{202F}%" }
        let first = mayGrow ? "The share may grow" + (next.map { " to \($0)" } ?? "") : "The share should stay"
        page.element("p", ["class": "lead"]) { lead in
            lead.element("b", first)
            lead.text(": \(why). ")
        }
        page.note(
            "The rule: at least \(report.rule.minAttestations.grouped) attestations decided at the present share, at "
                + "most \(PercentFigure.text(report.rule.maxFailureRate)) of them failed. It counts a device that failed "
                + "and then succeeded as both."
        )
    }

    private func charts(_ columns: RolloutFacts.Columns, _ page: inout Markup) {
        let axis = columns.axis
        page.element("h3", "Share and devices over time")
        page.card { card in
            if columns.shares.contains(where: { $0 != nil }) { share(columns, &card) }
            let series = [
                TimeChart.Series(kind: .accepted, counts: columns.counts.map(\.succeeded)),
                TimeChart.Series(kind: .refused, counts: columns.counts.map(\.failed)),
                TimeChart.Series(kind: .deferred, counts: columns.counts.map(\.notAdmitted)),
            ]
            card.legend([(.accepted, "devices succeeded"), (.refused, "failed"), (.deferred, "not admitted")])
            TimeChart.stacked(series, axis, "Devices over time", unit: "device", into: &card)
            table(columns, &card)
        }
        page.element("h3", "Failure rate over time")
        page.card { card in
            let bands = columns.counts.map { count in
                Wilson(count.failed, of: count.decided).map { (count.failed, count.decided, $0) }
            }
            BandChart(bands: bands, bound: report.rule.maxFailureRate / 100, axis: axis).write(into: &card)
        }
    }

    private func share(_ columns: RolloutFacts.Columns, _ card: inout Markup) {
        let steps = Self.steps(columns)
        card.element("figure") { figure in
            figure.element("figcaption", "Share of the rollout: \(steps)")
            let series = TimeChart.Series(kind: .deadLetter, counts: columns.shares.map { Int($0 ?? 0) })
            TimeChart.row(series, columns.axis, "Share over time", into: &figure) { column in
                Rollout.percentText(columns.shares[column] ?? 0) + " %"
            }
        }
        card.element("p", ["class": "small"], "")
    }

    private static let mostSteps = 6

    /// `1 %, 5 % from 2026-11-18, …`: the last ones.
    private static func steps(_ columns: RolloutFacts.Columns) -> String {
        var (steps, last): ([String], Int64?) = ([], nil)
        for (column, share) in columns.shares.enumerated() {
            guard let share, share != last else { continue }
            let since = last == nil ? "" : " from \(columns.axis.label(column))"
            steps.append(Rollout.percentText(share) + "\u{202F}%" + since)
            last = share
        }
        return (steps.count > mostSteps ? "…, " : "") + steps.suffix(mostSteps).joined(separator: ", ")
    }

    private func table(_ columns: RolloutFacts.Columns, _ card: inout Markup) {
        card.element("details") { details in
            details.element("summary", "As a table")
            let names = ["from", "share", "succeeded", "failed", "failed of decided", "95 %", "not admitted"]
            details.table(names) { body in
                for (column, count) in columns.counts.enumerated() where count != DeviceCounts() {
                    body.element("tr") { row in
                        row.element("td", columns.axis.label(column))
                        row.element("td", columns.shares[column].map { Rollout.percentText($0) + "\u{202F}%" } ?? "–")
                        row.element("td", count.succeeded.grouped)
                        row.element("td", count.failed.grouped)
                        row.element("td", Figure.share(count.failed, of: count.decided))
                        row.element("td", Wilson(count.failed, of: count.decided)?.text ?? "–")
                        row.element("td", count.notAdmitted.grouped)
                    }
                }
            }
        }
    }

    private func reasons(_ page: inout Markup) {
        page.element("h3", "Why devices failed")
        let devices = facts.failedDevices
        guard !facts.failures.isEmpty else { return page.note("No attestation failed.") }
        let byReason = Dictionary(uniqueKeysWithValues: devices.map { ($0.reason, $0.devices) })
        let order = facts.failures.sorted { left, right in
            (byReason[left.key] ?? 0, left.value, right.key) > (byReason[right.key] ?? 0, right.value, left.key)
        }
        page.card { card in
            card.table(["reason", "devices", "attestations", "meaning"], leftAligned: [3]) { body in
                for (reason, count) in order {
                    body.element("tr") { row in
                        row.element("td") { $0.element("code") { $0.foreign(reason) } }
                        row.element("td", (byReason[reason] ?? 0).grouped)
                        row.element("td", count.grouped)
                        let meaning = ReasonEntry.find(reason).map { ReasonText.plain($0.text.meaning) } ?? ""
                        row.element("td", ["class": "l w"], meaning)
                    }
                }
            }
        }
    }

    private static let mostValues = 15

    private func values(_ total: DeviceCounts, _ page: inout Markup) {
        page.element("h3", "By system and version")
        page.note(
            "Decided devices. A shaded rate lies above the app's, \(Figure.share(total.failed, of: total.decided)), and "
                + "not by chance (95 %), a blue one below. What a refused object says of its device is its own claim."
        )
        page.card { card in
            card.table(["", "devices", "failed", "rate", "95 %"]) { body in
                for value in RolloutFacts.Value.allCases {
                    body.element("tr", ["class": "g"]) { $0.element("td", ["colspan": "5"], value.name) }
                    let (rows, rest) = facts.rows(value, most: Self.mostValues)
                    for (text, counts) in rows {
                        Self.row(counts, total, &body) { cell in
                            if let text { cell.foreign(text.shown) } else { cell.text("not known") }
                        }
                    }
                    if rest.decided > 0 { Self.row(rest, total, &body) { $0.text("other values") } }
                }
            }
        }
    }

    private static func row(
        _ counts: DeviceCounts,
        _ total: DeviceCounts,
        _ body: inout Markup,
        _ name: (inout Markup) -> Void
    ) {
        let average = Double(total.failed) / Double(max(1, total.decided))
        let shade = Lift.shade(counts.failed, of: counts.decided, average: average)
        body.element("tr") { row in
            row.element("td", [:], name)
            row.element("td", counts.decided.grouped)
            row.element("td", counts.failed.grouped)
            row.element("td", shade.isEmpty ? [:] : ["class": shade], Figure.share(counts.failed, of: counts.decided))
            row.element("td", Wilson(counts.failed, of: counts.decided)?.text ?? "–")
        }
    }
}
