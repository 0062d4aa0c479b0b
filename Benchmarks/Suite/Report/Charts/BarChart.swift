/// Horizontal bars from zero, each with its value; what they are stands above them, where long names have room.
struct BarChart {
    struct Bar {
        let value: Double
        let text: String
        let color: SeriesColor
        /// Quartiles, as a thin line.
        var spread: ClosedRange<Double>?
    }

    struct Group {
        let label: String
        let bars: [Bar]
    }

    /// What the axis counts, with its unit.
    let axis: String
    let groups: [Group]
    var legend: [(color: SeriesColor, name: String)] = []
    /// A value with a dashed line of its own.
    var mark: Double?

    private static let left = 8.0
    private static let thickness = 15.0

    var drawing: Drawing {
        var drawing = Drawing()
        drawing.legend(legend)
        let bars = groups.flatMap(\.bars)
        let top = bars.map { max($0.value, $0.spread?.upperBound ?? 0) }.max() ?? 1
        let room = (bars.map { Drawing.width(of: $0.text) }.max() ?? 0) + 10
        let scale = (Drawing.width - Self.left - room) / max(top, .leastNonzeroMagnitude)
        let start = drawing.height
        let height = groups.reduce(0) { $0 + 26 + Double($1.bars.count) * (Self.thickness + 4) }
        // Behind the bars.
        grid(&drawing, Ticks.linear(to: top), scale, from: start, to: start + height)
        for group in groups { add(group, scale, &drawing) }
        drawing.height = start + height + 38
        return drawing
    }

    private func add(_ group: Group, _ scale: Double, _ drawing: inout Drawing) {
        drawing.text(group.label, Self.left, drawing.height + 17)
        let start = drawing.height + 21
        var y = start + 2
        for bar in group.bars {
            drawing.bar(Self.left, y, bar.value * scale, Self.thickness, bar.color)
            let end = Self.left + max(bar.value, bar.spread?.upperBound ?? 0) * scale
            if let spread = bar.spread {
                let middle = y + Self.thickness / 2
                let (low, high) = (Self.left + spread.lowerBound * scale, Self.left + spread.upperBound * scale)
                if high - low > 2 { drawing.line((low, middle), (high, middle), "spread") }
            }
            drawing.text(bar.text, end + 6, y + 12, "value")
            y += Self.thickness + 4
        }
        drawing.line((Self.left, start), (Self.left, y - 2), "axis")
        if let mark {
            let x = Self.left + mark * scale
            drawing.line((x, start), (x, y - 2), "mark")
        }
        drawing.height = y + 3
    }

    private func grid(_ drawing: inout Drawing, _ ticks: [Double], _ scale: Double, from: Double, to: Double) {
        for tick in ticks {
            let x = Self.left + tick * scale
            if tick > 0 { drawing.line((x, from + 4), (x, to + 4), "grid") }
            drawing.text(Markup.tick(tick), x, to + 18, "small", anchor: tick == 0 ? "start" : "middle")
        }
        drawing.text(axis, Self.left, to + 34, "small")
    }
}
