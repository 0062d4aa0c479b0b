internal import Settings

/// 2: outcomes over evaluation time.
extension ReplayReport {
    /// Reasons with a row of their own.
    private static let mostRows = 10

    func when(_ page: inout Markup) {
        guard let columns = facts.times.columns(outcomes: outcomes.count) else {
            return page.note(facts.total > 0 ? "No record has a time." : "There are no records.")
        }
        let axis = TimeAxis(start: columns.start, width: columns.width, count: columns.count)
        let series = MarkKind.allCases.map { kind in
            let own = outcomes.indices.filter { outcomes.kind($0) == kind }
            let sums = (0..<columns.count).map { column in own.reduce(0) { $0 + columns.counts[$1][column] } }
            return TimeChart.Series(kind: kind, counts: sums)
        }
        .filter { $0.counts.contains { $0 > 0 } }
        page.card { card in
            card.legend(series.map { ($0.kind, "\($0.kind.name) \($0.counts.reduce(0, +).grouped)") })
            TimeChart.stacked(series, axis, "All outcomes over time", into: &card)
            Self.table(series, axis, &card)
        }
        let reasons = occurred([.refused, .deferred, .deadLetter])
        if !reasons.isEmpty { rows(reasons, columns, axis, &page) }
        let notes = [
            (columns.outside, "lie far outside this span and are not drawn"),
            (facts.withoutTime, "have no time"),
        ]
        for (count, text) in notes where count > 0 { page.note("\(Figure.count(count, "record")) \(text).") }
    }

    /// A row each, with a scale of its own: among accepted ones they would not show.
    private func rows(_ reasons: [Int], _ columns: TimeCounts.Columns, _ axis: TimeAxis, _ page: inout Markup) {
        page.element("h3", "Each reason by itself")
        page.note("Each row has its own scale: a full column is the row's highest.")
        page.card { card in
            for reason in reasons.prefix(Self.mostRows) {
                row(outcomes.name(reason), outcomes.kind(reason), columns.counts[reason], axis, &card)
            }
            let others = reasons.dropFirst(Self.mostRows)
            if !others.isEmpty {
                let sums = (0..<columns.count).map { column in others.reduce(0) { $0 + columns.counts[$1][column] } }
                row(Figure.count(others.count, "other reason"), .refused, sums, axis, &card)
            }
            card.line { _ in
            } _: { _ in
            } chart: {
                axis.write(into: &$0)
            }
        }
    }

    private func row(
        _ name: String,
        _ kind: MarkKind,
        _ counts: [Int],
        _ axis: TimeAxis,
        _ card: inout Markup
    ) {
        card.line { left in
            left.element("code", name)
        } _: { right in
            right.text(counts.reduce(0, +).grouped)
        } chart: { chart in
            TimeChart.row(TimeChart.Series(kind: kind, counts: counts), axis, name, into: &chart)
        }
    }

    private static func table(_ series: [TimeChart.Series], _ axis: TimeAxis, _ card: inout Markup) {
        card.element("details") { details in
            details.element("summary", "As a table")
            details.table(["from"] + series.map(\.kind.name)) { body in
                for column in 0..<axis.count where series.contains(where: { $0.counts[column] > 0 }) {
                    body.element("tr") { row in
                        row.element("td", axis.label(column))
                        for one in series { row.element("td", one.counts[column].grouped) }
                    }
                }
            }
        }
    }
}
