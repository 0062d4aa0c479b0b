internal import Settings

/// A rate over time with the interval that it lies in, and the bound that it is held to.
struct BandChart {
    /// By column; nil where nothing was decided.
    let bands: [(part: Int, whole: Int, interval: Wilson)?]
    /// A share, 0 to 1.
    let bound: Double
    let axis: TimeAxis

    /// The scale's end: all rates and the bound, and of the intervals as much as does not squeeze them.
    private var top: Double {
        let rates = bands.compactMap { $0.map { Double($0.part) / Double($0.whole) } }
        let highs = bands.compactMap { $0?.interval.high }.sorted()
        let middle = highs.isEmpty ? 0 : highs[highs.count / 2]
        return min(1, max(0.001, bound * 1.5, rates.max() ?? 0, middle) * 1.1)
    }

    func write(into page: inout Markup) {
        let top = top
        page.element("ul", ["class": "key"]) { list in
            for (name, text) in [
                ("b-no", "rate of failed devices"), ("b-band", "its 95 % interval"),
                ("b-ink", "bound: \(Wilson.percent(bound))"),
            ] {
                list.element("li") { item in
                    item.element("i", ["class": name])
                    item.text(text)
                }
            }
        }
        page.element("figure") { figure in
            let isCut = bands.contains { $0.map { $0.interval.high > top } ?? false }
            let scale = "Scale: 0 to \(Wilson.percent(top))" + (isCut ? "; intervals that reach further are cut" : "")
            figure.element("figcaption", scale)
            let box = "0 0 \(axis.count) 100"
            figure.element(
                "svg",
                [
                    "class": "time", "viewBox": box, "preserveAspectRatio": "none", "role": "img",
                    "aria-label": "Failure rate over time",
                ]
            ) { svg in
                svg.empty("rect", rect("f-line", 0, 99.5, Double(axis.count), 0.5))
                for (column, band) in bands.enumerated() {
                    if let band { draw(column, band, top, &svg) }
                }
                let y = Figure.point(100 - bound / top * 100)
                svg.empty("path", ["class": "s-ink dash", "d": "M0 \(y)H\(axis.count)"])
            }
            axis.write(into: &figure)
        }
    }

    private func draw(
        _ column: Int,
        _ band: (part: Int, whole: Int, interval: Wilson),
        _ top: Double,
        _ svg: inout Markup
    ) {
        func y(_ share: Double) -> Double { 100 - min(1, share / top) * 100 }
        let rate = Double(band.part) / Double(band.whole)
        let width = min(0.8, Double(axis.count) * 0.08)
        let x = Double(column) + (1 - width) / 2
        svg.element("g") { group in
            let rate = Figure.share(band.part, of: band.whole)
            let text = "\(band.part.grouped) of \(band.whole.grouped) failed, \(rate) (\(band.interval.text))"
            group.element("title", "\(axis.label(column)): \(text)")
            let (high, low) = (y(band.interval.high), y(band.interval.low))
            group.empty("rect", rect("f-band", x, high, width, max(0.5, low - high)))
        }
        svg.empty("rect", rect("f-no", x, min(98, max(0, y(rate) - 1)), width, 2))
    }

    private func rect(
        _ name: String,
        _ x: Double,
        _ y: Double,
        _ width: Double,
        _ height: Double
    ) -> KeyValuePairs<String, String> {
        [
            "class": name, "x": Figure.point(x), "y": Figure.point(y), "width": Figure.point(width),
            "height": Figure.point(height),
        ]
    }
}
