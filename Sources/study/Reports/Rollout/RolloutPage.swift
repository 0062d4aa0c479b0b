internal import AppAttest
internal import AppCheck
internal import Settings

extension RolloutReport {
    /// The page of `rollout --report`: per app how the share grew, how devices fared, and whether it may grow.
    package func report(version: String, source: String) -> Report {
        let span = since.map { "Events since \(UTCText.of($0))." } ?? "All events."
        return Report(
            "attest-worker: how the rollout goes",
            lead: "\(span) \(read.counted("event", "was", "were")) read. All times here are UTC.",
            own: members,
            apps: names.map { (registry.label(of: $0), RolloutSection(self, $0).parts) },
            about: """
                A device counts once, and once in each column of time: as succeeded if one of its attestations \
                succeeded, else as failed if one was decided, else as not admitted. A failed device counts for the \
                alphabetically first of its reasons. Intervals are Wilson's, 95 %. Assertions are not gated; they are \
                counted as events.
                """,
            [
                ("program", "attest-worker \(version)"), ("events from", source),
                ("records that are not events", unreadable.grouped),
            ]
        )
    }
}

/// One app of the page.
private struct RolloutSection {
    private let report: RolloutReport
    private let name: String
    private let facts: RolloutFacts
    private let rollout: Rollout?
    private let total: DeviceCounts

    init(_ report: RolloutReport, _ name: String) {
        (self.report, self.name) = (report, name)
        facts = report.facts[name] ?? RolloutFacts()
        rollout = report.rollout(of: name)
        total = facts.total
    }

    var parts: [Report.Part] {
        let first: [Report.Part] = [.tiles(tiles)] + growth
        guard total.decided + total.notAdmitted > 0 else {
            return first + [.text("No attestation of this app has an event.")]
        }
        return first + (facts.columns.map(charts) ?? []) + reasons + values
    }

    private static func percent(_ parts: Int64) -> String { Rollout.percentText(parts) + "\(Figure.gap)%" }

    private var tiles: [Report.Tile] {
        let interval = Wilson(total.failed, of: total.decided)
        let rate = interval.map { "\(Figure.share(total.failed, of: total.decided)) (\($0.text))" } ?? ""
        let again = facts.recovered > 0 ? "\(facts.recovered.grouped) of them after a failure" : ""
        let (succeeded, failed) = facts.assertions
        return [
            Report.Tile(
                "Share now",
                // Without a gate the share decides nothing.
                rollout.map { .text($0.mode == .off ? "all" : Self.percent($0.parts)) } ?? .missing,
                "mode " + (rollout?.mode.rawValue ?? "unknown")
            ), Report.Tile("Devices succeeded", .count(total.succeeded), again, .blue),
            Report.Tile("Devices failed", .count(total.failed), rate, .orange),
            Report.Tile("Devices not admitted", .count(total.notAdmitted), "", .pink),
            Report.Tile("Assertions", .count(succeeded), "\(failed.grouped) failed"),
        ]
    }

    private var growth: [Report.Part] {
        let (mayGrow, why) = report.judgement(of: name)
        let next = rollout.flatMap { GrowthRule.next(after: $0.parts) }.map { " to \(Self.percent($0))" } ?? ""
        return [
            .lead((mayGrow ? "The share may grow\(next)" : "The share should stay") + ": \(why)."),
            .text(
                """
                The rule: at least \(report.rule.minAttestations.grouped) attestations decided at the present share, at \
                most \(PercentFigure.text(report.rule.maxFailureRate)) of them failed. It counts a device that failed \
                and then succeeded as both.
                """
            ),
        ]
    }

    // MARK: Over time

    private func charts(_ columns: RolloutFacts.Columns) -> [Report.Part] {
        let series = [
            Report.Series("succeeded", .blue, columns.counts.map { Double($0.succeeded) }),
            Report.Series("failed", .orange, columns.counts.map { Double($0.failed) }),
            Report.Series("not admitted", .pink, columns.counts.map { Double($0.notAdmitted) }),
        ]
        let chart = Report.Chart.columns("Devices over time", columns.axis, series, unit: "device")
        let decided = columns.counts.map { (part: $0.failed, whole: $0.decided) }
        let bound = report.rule.maxFailureRate / 100
        let rates = Report.Chart.rates("Rate of failed devices", columns.axis, decided, bound: bound)
        return [.heading("Share and devices over time")] + share(columns)
            + [.chart(chart), .table(table(columns)), .heading("Failure rate over time"), .chart(rates)]
    }

    /// A row with the shares as columns, where there was a gate.
    private func share(_ columns: RolloutFacts.Columns) -> [Report.Part] {
        guard columns.shares.contains(where: { $0 != nil }) else { return [] }
        let percents = columns.shares.map { Double($0 ?? 0) / Double(Rollout.whole) * 100 }
        let row = Report.Row([.text(steps(columns))], drawing: percents, .grey)
        var table = Report.Table(["share of the rollout"], [row])
        table.drawing = .columns(columns.axis)
        return [.table(table)]
    }

    private static let mostSteps = 6

    /// `1 %, 5 % from 2026-11-18, …`: the last ones.
    private func steps(_ columns: RolloutFacts.Columns) -> String {
        var (steps, last): ([String], Int64?) = ([], nil)
        for (column, share) in columns.shares.enumerated() {
            guard let share, share != last else { continue }
            let since = last == nil ? "" : " from \(columns.axis.label(column))"
            steps.append(Self.percent(share) + since)
            last = share
        }
        return (steps.count > Self.mostSteps ? "…, " : "") + steps.suffix(Self.mostSteps).joined(separator: ", ")
    }

    private func table(_ columns: RolloutFacts.Columns) -> Report.Table {
        let filled = columns.counts.enumerated().filter { $0.element != DeviceCounts() }
        var table = Report.Table(
            ["from", "share", "succeeded", "failed", "failed of decided", "95 %", "not admitted"],
            filled.map { column, count in
                Report.Row([
                    .text(columns.axis.label(column)),
                    columns.shares[column].map { .text(Self.percent($0)) } ?? .missing, .count(count.succeeded),
                    .count(count.failed), .share(count.failed, of: count.decided, average: nil), Self.interval(count),
                    .count(count.notAdmitted),
                ])
            }
        )
        table.isFolded = true
        return table
    }

    private static func interval(_ counts: DeviceCounts) -> Report.Value {
        Wilson(counts.failed, of: counts.decided).map { .text($0.text) } ?? .missing
    }

    // MARK: Why, and on what

    private var reasons: [Report.Part] {
        let title = Report.Part.heading("Why devices failed")
        guard !facts.failures.isEmpty else { return [title, .text("No attestation failed.")] }
        let byReason = facts.failedDevices
        let order = facts.failures.sorted { left, right in
            (byReason[left.key] ?? 0, left.value, right.key) > (byReason[right.key] ?? 0, right.value, left.key)
        }
        let rows = order.map { reason, count in
            let meaning = ReasonEntry.find(reason).map { ReasonText.plain($0.text.meaning) } ?? ""
            return Report.Row([
                .code(ShownText.of(reason)), .count(byReason[reason] ?? 0), .count(count), .text(meaning),
            ])
        }
        return [title, .table(Report.Table(["reason", "devices", "attestations", "meaning"], rows))]
    }

    private static let mostValues = 15

    private var values: [Report.Part] {
        let average = Double(total.failed) / Double(max(1, total.decided))
        func row(_ name: String, _ counts: DeviceCounts) -> Report.Row {
            Report.Row([
                .foreign(name), .count(counts.decided), .count(counts.failed),
                .share(counts.failed, of: counts.decided, average: average), Self.interval(counts),
            ])
        }
        let rows = RolloutFacts.traits.enumerated().flatMap { index, trait in
            let (rows, rest) = facts.rows(index, most: Self.mostValues)
            return [.group(trait.name)] + rows.map { row($0.text?.shown ?? "not known", $0.counts) }
                + (rest.decided > 0 ? [row("other values", rest)] : [])
        }
        return [
            .heading("By system and version"),
            .text(
                """
                Decided devices. A shaded rate lies above the app's, \(Figure.share(total.failed, of: total.decided)), \
                and not by chance (95 %), a blue one below. What a refused object says of its device is its own claim.
                """
            ), .table(Report.Table(["", "devices", "failed", "rate", "95 %"], rows)),
        ]
    }
}
