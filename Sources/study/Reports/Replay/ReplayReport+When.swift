internal import Settings

/// 3: outcomes over evaluation time.
extension ReplayReport {
    /// Reasons with a row of their own.
    private static let mostRows = 10

    var when: [Report.Part] {
        guard let columns = facts.times.columns(outcomes: outcomes.count) else {
            return [.text(facts.total > 0 ? "No record has a time." : "There are no records.")]
        }
        let axis = TimeAxis(start: columns.start, width: columns.width, count: columns.count)
        let series = MarkKind.allCases.map { kind in
            Report.Series(kind.name, kind.hue, columns.sums(outcomes.indices.filter { outcomes.kind($0) == kind }))
        }
        .filter { $0.values.contains { $0 > 0 } }
        let chart = Report.Chart.columns("All outcomes over time", axis, series, unit: "record")
        let notes = [
            (columns.outside, "lie far outside this span and are not drawn"), (facts.withoutTime, "have no time"),
        ]
        return [.chart(chart), .table(Report.Table(axis, series))] + rows(columns, axis)
            + notes.filter { $0.0 > 0 }.map { .text("\($0.0.counted("record")) \($0.1).") }
    }

    /// A row each, with a scale of its own: among accepted ones they would not show.
    private func rows(_ columns: TimeCounts.Columns, _ axis: TimeAxis) -> [Report.Part] {
        let reasons = occurred([.refused, .deferred, .deadLetter])
        guard !reasons.isEmpty else { return [] }
        func row(_ name: Report.Value, _ reasons: some Sequence<Int>, _ hue: Report.Hue) -> Report.Row {
            let sums = columns.sums(reasons)
            return Report.Row([name, .count(Int(sums.reduce(0, +)))], drawing: sums, hue)
        }
        var rows = reasons.prefix(Self.mostRows).map { row(.code(outcomes.name($0)), [$0], outcomes.kind($0).hue) }
        let others = reasons.dropFirst(Self.mostRows)
        if !others.isEmpty { rows.append(row(.text(others.count.counted("other reason")), others, .orange)) }
        var table = Report.Table(["", "records"], rows)
        table.drawing = .columns(axis)
        return [
            .heading("Each reason by itself"),
            .text("Each row has its own scale: a full column is the row's highest."), .table(table),
        ]
    }
}

extension TimeCounts.Columns {
    /// Sums by column.
    fileprivate func sums(_ outcomes: some Sequence<Int>) -> [Double] {
        (0..<count).map { column in Double(outcomes.reduce(0) { $0 + counts[$1][column] }) }
    }
}

extension Report.Table {
    /// The columns of a chart as rows, but for empty ones.
    fileprivate init(_ axis: TimeAxis, _ series: [Report.Series]) {
        let filled = (0..<axis.count).filter { column in series.contains { $0.values[column] > 0 } }
        self.init(
            ["from"] + series.map(\.name),
            filled.map { column in
                Report.Row([.text(axis.label(column))] + series.map { .count(Int($0.values[column])) })
            }
        )
        isFolded = true
    }
}
