internal import Settings

/// Columns of equal width in time.
struct TimeAxis {
    /// The first column's beginning and each one's width, in milliseconds.
    let start: Int64
    let width: Int64
    let count: Int

    func label(_ column: Int) -> String {
        UTCText.of(start + Int64(column) * width, UTCText.precision(width))
    }

    /// The labels below a chart: its beginning, its middle, its end.
    func write(into page: inout Markup) {
        page.element("div", ["class": "axis"]) { axis in
            axis.element("span", label(0))
            if count > 2 { axis.element("span", ["class": "mid"], label(count / 2)) }
            axis.element("span", UTCText.of(start + Int64(count) * width, UTCText.precision(width)))
        }
    }
}

/// Charts over time. Only marks are in the picture, so that it may be stretched; texts stand around it.
enum TimeChart {
    struct Series {
        let kind: MarkKind
        /// By column.
        let counts: [Int]
    }

    private static let height = 100.0
    /// Of a column: few columns are no wall.
    private static func width(_ axis: TimeAxis) -> Double { min(0.88, Double(axis.count) * 0.08) }

    /// What is there is seen, however few it is.
    private static let least = 1.5

    /// One above the other, with a scale.
    static func stacked(
        _ series: [Series],
        _ axis: TimeAxis,
        _ title: String,
        unit: String = "record",
        into page: inout Markup
    ) {
        let sums = (0..<axis.count).map { column in series.reduce(0) { $0 + $1.counts[column] } }
        let top = max(1, sums.max() ?? 1)
        page.element("figure") { figure in
            let each = "Highest column: \(Figure.count(top, unit)) in \(Figure.span(axis.width))"
            figure.element("figcaption", each)
            draw(axis, "time", title, into: &figure) { svg in
                for line in [0.0, 0.5] {
                    let y = Figure.point(height * line)
                    let width = String(axis.count)
                    svg.empty("rect", ["class": "f-line", "x": "0", "y": y, "width": width, "height": "0.5"])
                }
                for column in 0..<axis.count where sums[column] > 0 { stack(series, column, top, axis, &svg) }
            }
            axis.write(into: &figure)
        }
    }

    private static func stack(
        _ series: [Series],
        _ column: Int,
        _ top: Int,
        _ axis: TimeAxis,
        _ svg: inout Markup
    ) {
        svg.element("g") { group in
            let parts = series.filter { $0.counts[column] > 0 }
            let text = parts.map { "\($0.counts[column].grouped) \($0.kind.name)" }.joined(separator: ", ")
            group.element("title", "\(axis.label(column)): \(text)")
            var y = height
            for part in parts {
                let share = max(least, Double(part.counts[column]) / Double(top) * height)
                y -= share
                bar(column, axis, max(0, y), share, part.kind, &group)
            }
        }
    }

    /// One series alone, up to its own highest column.
    ///
    /// - Parameter text: what a column's mark says.
    static func row(
        _ series: Series,
        _ axis: TimeAxis,
        _ title: String,
        into page: inout Markup,
        text: ((Int) -> String)? = nil
    ) {
        let top = max(1, series.counts.max() ?? 1)
        draw(axis, "row", title, into: &page) { svg in
            let width = String(axis.count)
            svg.empty("rect", ["class": "f-line", "x": "0", "y": "99", "width": width, "height": "1"])
            for column in 0..<axis.count where series.counts[column] > 0 {
                svg.element("g") { group in
                    group.element("title", "\(axis.label(column)): \(text?(column) ?? series.counts[column].grouped)")
                    let share = max(6, Double(series.counts[column]) / Double(top) * height)
                    bar(column, axis, height - share, share, series.kind, &group)
                }
            }
        }
    }

    private static func draw(
        _ axis: TimeAxis,
        _ name: String,
        _ title: String,
        into page: inout Markup,
        _ marks: (inout Markup) -> Void
    ) {
        let box = "0 0 \(axis.count) \(Int(height))"
        page.element(
            "svg",
            ["class": name, "viewBox": box, "preserveAspectRatio": "none", "role": "img", "aria-label": title],
            marks
        )
    }

    private static func bar(
        _ column: Int,
        _ axis: TimeAxis,
        _ y: Double,
        _ height: Double,
        _ kind: MarkKind,
        _ svg: inout Markup
    ) {
        let width = width(axis)
        svg.empty(
            "rect",
            [
                "class": "f-" + kind.rawValue, "x": Figure.point(Double(column) + (1 - width) / 2),
                "y": Figure.point(y),
                "width": Figure.point(width), "height": Figure.point(height),
            ]
        )
    }
}
