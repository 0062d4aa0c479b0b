internal import Settings

extension Report {
    /// A picture with its texts. What it shows is data for the script from the beginning.
    package struct Chart {
        let title: String
        let note: String
        let legend: [Mark]
        let kind: String
        let drawn: [Facts.Member]

        /// Whether it takes the whole width.
        var isWide: Bool { kind == "columns" || kind == "rates" }

        var facts: Facts {
            .object(
                [
                    ("title", .text(title)), ("kind", .text(kind)), ("note", .filled(note)),
                    ("legend", Report.facts(legend)),
                ] + drawn
            )
        }
    }

    package struct Series {
        let name: String
        let hue: Hue
        let values: [Double]
        /// Says the last value.
        let text: String

        package init(_ name: String, _ hue: Hue, _ values: [Double], text: String = "") {
            (self.name, self.hue, self.values, self.text) = (name, hue, values, text)
        }

        fileprivate var facts: Facts {
            [
                "name": .text(name), "hue": .text(hue.rawValue), "values": .figures(values), "text": .filled(text),
            ]
        }
    }
}

extension Report.Chart {
    /// One series above the other, over time.
    static func columns(_ title: String, _ axis: TimeAxis, _ series: [Report.Series], unit: String) -> Self {
        let sums = (0..<axis.count).map { column in series.reduce(0) { $0 + $1.values[column] } }
        return Self(
            title: title,
            note: "Highest column: \(Int(sums.max() ?? 0).counted(unit)) in \(Figure.span(axis.width))",
            legend: series.map { ($0.hue, "\($0.name) \(Int($0.values.reduce(0, +)).grouped)") },
            kind: "columns",
            drawn: [("axis", axis.facts), ("series", .list(series.map(\.facts)))]
        )
    }

    /// Rates over time with the interval that each lies in, and the bound that they are held to.
    static func rates(_ title: String, _ axis: TimeAxis, _ rates: [(part: Int, whole: Int)], bound: Double) -> Self {
        let intervals = rates.map { Wilson($0.part, of: $0.whole) }
        let shares = rates.map { Double($0.part) / Double(max(1, $0.whole)) }
        let highs = intervals.compactMap { $0?.high }.sorted()
        // All rates and the bound, and of the intervals as much as does not squeeze them.
        let middle = highs.isEmpty ? 0 : highs[highs.count / 2]
        let top = min(1, max(0.001, bound * 1.5, shares.max() ?? 0, middle) * 1.1)
        let cut = (highs.last ?? 0) > top ? "; intervals that reach further are cut" : ""
        let facts = zip(rates, intervals).map { rate, interval -> Facts in
            guard let interval else { return .null }
            return [
                "part": .count(rate.part), "of": .count(rate.whole), "low": .figure(interval.low),
                "high": .figure(interval.high),
            ]
        }
        return Self(
            title: title,
            note: "Scale: 0 to \(Wilson.percent(top))\(cut). Pale: the 95 % interval. The dashed line is the bound, "
                + "\(Wilson.percent(bound)).",
            legend: [],
            kind: "rates",
            drawn: [("axis", axis.facts), ("rates", .list(facts)), ("bound", .figure(bound)), ("top", .figure(top))]
        )
    }

    /// Lines over steps of equal width; values on a logarithmic scale.
    package static func lines(
        _ title: String,
        _ note: String,
        x: String,
        y: String,
        steps: [Int],
        _ series: [Report.Series]
    ) -> Self {
        Self(
            title: title,
            note: note,
            legend: [],
            kind: "lines",
            drawn: [
                ("x", .text(x)), ("y", .text(y)), ("steps", .list(steps.map { .count($0) })),
                ("series", .list(series.map(\.facts))),
            ]
        )
    }
}

/// Columns of equal width in time.
struct TimeAxis {
    /// The first column's beginning and each one's width, in milliseconds.
    let start: Int64
    let width: Int64
    let count: Int

    func time(_ column: Int) -> Int64 { start + Int64(column) * width }

    func label(_ column: Int) -> String { UTCText.of(time(column), UTCText.precision(width)) }

    var facts: Facts { ["start": .count(start), "width": .count(width), "count": .count(count)] }
}
