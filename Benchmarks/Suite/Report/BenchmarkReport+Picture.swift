internal import Reports

/// The figures that matter most as one picture for other pages, which suits light and dark ones.
extension BenchmarkReport {
    private typealias Panel = (title: String, rows: [Measurement])

    private static let (width, gap, margin) = (420.0, 24.0, 20.0)

    var picture: [UInt8] {
        let panels: [Panel] = [
            ("A P-256 signature: each assertion", engineRows(.p256)),
            ("A P-384 signature: each attestation", engineRows(.p384)),
            ("Replay of assertions, file to files", self[.assertions].rows),
            ("Replay of attestations with receipts", self[.attestations].rows),
        ]
        let heights = stride(from: 0, to: panels.count, by: 2).map { row in
            panels[row...].prefix(2).map { 30 + Double($0.rows.count) * 44 }.max() ?? 0
        }
        let foot = heights.reduce(Self.margin, +) + Self.gap
        return Self.framed(2 * (Self.width + Self.margin) + Self.gap, foot + 18 + Self.margin) { picture in
            for (index, panel) in panels.enumerated() {
                let x = Self.margin + Double(index % 2) * (Self.width + Self.gap)
                let y = Self.margin + (index < 2 ? 0 : heights[0])
                picture.element("g", ["transform": "translate(\(x) \(y))"]) { Self.draw(panel, into: &$0) }
            }
            let note = "Microseconds of a core; multiples are of the first bar's rate. One core of this machine:"
            Self.say(note, Self.margin + 8, foot, "small", into: &picture)
            Self.say(machine.text, Self.margin + 8, foot + 18, "small", into: &picture)
        }
    }

    /// OpenSSL, and each engine's usual batch.
    private func engineRows(_ id: GroupID) -> [Measurement] {
        self[id].rows.filter { $0.engine == EngineCandidates.openSSL || $0.batch == EngineCandidates.usualBatch }
    }

    private static func draw(_ panel: Panel, into picture: inout Markup) {
        say(panel.title, 8, 14, "title", into: &picture)
        let top = panel.rows.map(\.microseconds).max() ?? 1
        for (index, row) in panel.rows.enumerated() {
            let y = 30 + Double(index) * 44
            say(row.name, 8, y + 13, into: &picture)
            // A quarter is room for the text behind the longest bar.
            let length = max(1, row.microseconds / max(top, .leastNonzeroMagnitude) * (width - 8) * 0.68)
            let hue = hue(of: row.engine).rawValue
            picture.raw("<rect x=\"8\" y=\"\(y + 19)\" width=\"\(Figure.plain(length, 1))\" height=\"15\" ")
            picture.raw("fill=\"var(--\(hue))\"/>")
            let ratio = row.name == row.baseline ? "" : ", \(Figure.three(row.ratio.median))×"
            say("\(Figure.three(row.microseconds)) µs\(ratio)", 14 + length, y + 31, "value", into: &picture)
        }
    }

    private static func say(
        _ text: String,
        _ x: Double,
        _ y: Double,
        _ kind: String = "",
        into picture: inout Markup
    ) {
        picture.element("text", ["x": Figure.plain(x, 1), "y": "\(y)", "class": kind], text)
    }

    private static func framed(_ width: Double, _ height: Double, _ body: (inout Markup) -> Void) -> [UInt8] {
        let (width, height) = ("\(Int(width))", "\(Int(height))")
        var picture = Markup()
        picture.element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 \(width) \(height)", "width": width,
                "height": height, "role": "img", "aria-labelledby": "title",
            ]
        ) { svg in
            let title = "What a record costs, in microseconds of a core: OpenSSL beside each engine"
            svg.element("title", ["id": "title"], title)
            svg.raw("<style>\(PageTemplate.colors("svg"))\n\(PageTemplate.texts)</style>")
            svg.raw("<rect width=\"\(width)\" height=\"\(height)\" rx=\"10\" fill=\"var(--card)\"/>\n")
            body(&svg)
        }
        return picture.bytes + [0x0A]
    }
}
