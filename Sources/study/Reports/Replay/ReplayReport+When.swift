internal import AppAttest
internal import Settings
internal import Streams

/// 3, 5 and 6: outcomes over evaluation time; what was not accepted, by what it was sent by and to; and the devices with
/// most refusals, a mark for each of their requests.
extension ReplayReport {
    /// Reasons with a row of their own.
    private static let mostRows = 10

    var when: [Report.Part] {
        guard let columns = facts.times.columns(outcomes: outcomes.count) else {
            return [.text(facts.total > 0 ? "No record has a time." : "There are no records.")]
        }
        let axis = columns.axis
        let series = MarkKind.allCases.map { kind in
            Report.Series(kind.rawValue, kind.hue, columns.sums(outcomes.indices.filter { outcomes.kind($0) == kind }))
        }
        .filter { $0.values.contains { $0 > 0 } }
        let chart = Report.Chart.columns("All outcomes over time", axis, series, unit: "record")
        let notes = [
            (columns.outside, "lie far outside this span and are not drawn"), (facts.withoutTime, "have no time"),
        ]
        return [.chart(chart), .table(Report.Table(axis, series))] + rows(columns)
            + notes.filter { $0.0 > 0 }.map { .text("\($0.0.counted("record")) \($0.1).") }
    }

    /// A row each, with a scale of its own: among accepted ones they would not show.
    private func rows(_ columns: TimeCounts.Columns) -> [Report.Part] {
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
        table.drawing = .columns(columns.axis)
        return [
            .heading("Each reason by itself"),
            .text("Each row has its own scale: a full column is the row's highest."), .table(table),
        ]
    }

    // MARK: 5

    private static let mostValues = 10
    private static let mostReasons = 5

    var places: [Report.Part] {
        let judged = facts.total - facts.total(.deadLetter)
        let refused = judged - facts.total(.accepted)
        guard refused > 0 else { return [.text("Nothing was refused.")] }
        let reasons = Array(occurred([.refused, .deferred]).prefix(Self.mostReasons))
        let averages = ([refused] + reasons.map { facts.records[$0] }).map { Double($0) / Double(judged) }
        let all = Dimension.texts.flatMap { dimension -> [Report.Row] in
            [.group(dimension.name)] + rows(dimension, reasons, averages)
        }
        return [
            .text(
                """
                The share of records that were not accepted, dead letters left out: \(Figure.share(refused, of: judged)) \
                over all. A shaded cell lies above the share over all (×: how many times it), a blue one below, and not \
                by chance (95 %). What a refused object says of its device is its own claim. System and version of an \
                assertion are those of its device's attestation.
                """
            ), .table(Report.Table(["", "records", "not accepted"] + reasons.map(outcomes.name), all)),
        ]
    }

    private func rows(_ dimension: Dimension, _ reasons: [Int], _ averages: [Double]) -> [Report.Row] {
        let (rows, rest, restValues) = facts.population.values[dimension.rawValue].rows(most: Self.mostValues)
        let restName = restValues > 0 ? restValues.counted("other value") : "other values"
        return (rows.map { ($0.key.map(\.shown) ?? "not known", $0.counts) } + [(restName, rest)])
            .compactMap { name, counts in
                let total = counts.reduce(0, +)
                guard total > 0 else { return nil }
                let parts = [total - counts[0]] + reasons.map { counts[$0] }
                return Report.Row(
                    [.foreign(name), .count(total)]
                        + zip(parts, averages).map { .share($0, of: total, average: $1) }
                )
            }
    }

    // MARK: 6

    private static let mostDevices = 20
    static let mostMarks = 300

    var who: [Report.Part] {
        let places = facts.population.devices.devices.indices.filter { facts.population.devices[$0].refused > 0 }
        guard !places.isEmpty else { return [.text("No device was refused.")] }
        let order = places.sorted { left, right in
            let (one, two) = (facts.population.devices[left], facts.population.devices[right])
            return (one.refused, -one.accepted, -left) > (two.refused, -two.accepted, -right)
        }
        let shown = Array(order.prefix(Self.mostDevices))
        let marks = facts.population.marks.marks(of: shown)
        var notes = [
            """
            \(places.count.counted("device")) had a request that was not accepted; here are the \(shown.count) with \
            most. A tall mark is a request that was not accepted, a short one an accepted one. The name is the event's \
            member device: 16 hex digits of SHA-256 of the installation ID, else of the key ID.
            """
        ]
        if facts.population.marks.isFull || facts.population.devices.recordsBeyond > 0 {
            notes.append("There were more requests than are kept: later ones have no mark here.")
        }
        if marks.values.contains(where: { $0.count > Self.mostMarks }) {
            notes.append("Of a device with more than \(Self.mostMarks) requests some have a mark, evenly chosen.")
        }
        var table = Report.Table(
            ["device", "refused", "accepted", "last refused"],
            shown.map { row(facts.population.devices[$0], marks[$0] ?? []) }
        )
        let times = marks.values.joined().map(\.time)
        if let first = times.min(), let last = times.max() {
            let kinds = outcomes.indices.map { (outcomes.kind($0).hue, outcomes.name($0)) }
            table.drawing = .marks(first...last, kinds: kinds)
        }
        return notes.map { .text($0) } + [.table(table)]
    }

    private func row(_ device: DeviceTable.Device, _ marks: [RefusalTimeline.Mark]) -> Report.Row {
        let (partition, offset) = device.lastRefused
        var row = Report.Row([
            .code(Figure.device(device.label)), .count(device.refused), .count(device.accepted),
            .text(Self.text(RecordPlace(partition: partition, offset: offset))),
        ])
        row.drawn = .list(Self.thinned(marks).map { .list([.count($0.time), .count($0.outcome)]) })
        return row
    }

    /// Some of both kinds where there are more than fit, evenly chosen; a sixth is for accepted ones.
    static func thinned(_ marks: [RefusalTimeline.Mark]) -> [RefusalTimeline.Mark] {
        guard marks.count > mostMarks else { return marks }
        let refused = marks.filter { $0.outcome != OutcomeList.accepted }
        let accepted = marks.filter { $0.outcome == OutcomeList.accepted }
        let room = min(accepted.count, max(mostMarks / 6, mostMarks - refused.count))
        return some(accepted, room) + some(refused, mostMarks - room)
    }

    /// The marks, or so many of them, evenly chosen.
    private static func some(_ marks: [RefusalTimeline.Mark], _ most: Int) -> [RefusalTimeline.Mark] {
        guard marks.count > most else { return marks }
        return (0..<most).map { marks[$0 * marks.count / most] }
    }
}

extension TimeCounts.Columns {
    /// Sums by column.
    fileprivate func sums(_ outcomes: some Sequence<Int>) -> [Double] {
        (0..<axis.count).map { column in Double(outcomes.reduce(0) { $0 + counts[$1][column] }) }
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
