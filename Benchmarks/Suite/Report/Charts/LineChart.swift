internal import Foundation

/// Lines over steps of equal width, on a logarithmic scale; each ends with its name and its last value.
struct LineChart {
    struct Series {
        let name: String
        let color: SeriesColor
        let values: [Double]
    }

    let xAxis: String
    let yAxis: String
    let steps: [Int]
    let series: [Series]

    private static let plot = (left: 56.0, right: 300.0, top: 30.0, bottom: 270.0)

    var drawing: Drawing {
        var drawing = Drawing()
        let values = series.flatMap(\.values)
        // A little air above and below.
        let bounds = (values.min() ?? 1) * 0.8...(values.max() ?? 1) * 1.25
        drawing.text(yAxis, 8, 16, "small")
        for tick in Ticks.logarithmic(bounds) {
            let y = place(tick, bounds)
            drawing.line((Self.plot.left, y), (Self.plot.right, y), "grid")
            drawing.text(Markup.tick(tick), Self.plot.left - 8, y + 4, "small", anchor: "end")
        }
        for (index, step) in steps.enumerated() {
            drawing.text("\(step)", x(index), Self.plot.bottom + 18, "small", anchor: "middle")
        }
        let corner = (Self.plot.left, Self.plot.bottom)
        drawing.line(corner, (Self.plot.right, Self.plot.bottom), "axis")
        drawing.line(corner, (Self.plot.left, Self.plot.top), "axis")
        drawing.text(xAxis, (Self.plot.left + Self.plot.right) / 2, Self.plot.bottom + 36, "small", anchor: "middle")
        for line in series {
            drawing.line(line.values.enumerated().map { (x($0), place($1, bounds)) }, line.color)
        }
        addNames(bounds, &drawing)
        drawing.height = Self.plot.bottom + 44
        return drawing
    }

    private func x(_ index: Int) -> Double {
        // Half a step of air before the first value and behind the last one.
        let width = (Self.plot.right - Self.plot.left) / Double(max(steps.count, 1))
        return Self.plot.left + width * (Double(index) + 0.5)
    }

    private func place(_ value: Double, _ bounds: ClosedRange<Double>) -> Double {
        let share = log(value / bounds.lowerBound) / log(bounds.upperBound / bounds.lowerBound)
        return Self.plot.bottom - share * (Self.plot.bottom - Self.plot.top)
    }

    /// Names of lines that end close to each other are moved apart.
    private func addNames(_ bounds: ClosedRange<Double>, _ drawing: inout Drawing) {
        let ends = series.compactMap { line in
            line.values.last.map { (line: line, value: $0, y: place($0, bounds)) }
        }
        var free = 0.0
        for end in ends.sorted(by: { $0.y < $1.y }) {
            let y = max(end.y, free)
            drawing.mark((Self.plot.right + 12, y), end.line.color)
            drawing.text(end.line.name, Self.plot.right + 22, y - 1)
            drawing.text(Markup.time(end.value), Self.plot.right + 22, y + 14, "value")
            free = y + 32
        }
    }
}
