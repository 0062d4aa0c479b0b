/// The figures that matter most as one picture for other pages, which suits light and dark ones.
extension BenchmarkReport {
    var picture: String {
        let panels: [(title: String, chart: BarChart)] = [
            ("A P-256 signature: each assertion", ReportCharts.costs(engineRows(.p256), of: "signature")),
            ("A P-384 signature: each attestation", ReportCharts.costs(engineRows(.p384), of: "signature")),
            ("Replay of assertions, file to files", ReportCharts.costs(self[.assertions].rows)),
            ("Replay of attestations with receipts", ReportCharts.costs(self[.attestations].rows)),
        ]
        let (gap, margin) = (24.0, 20.0)
        let width = 2 * Drawing.width + 2 * margin + gap
        let drawings = panels.map(\.chart.drawing)
        var (y, body): (Double, [String]) = (margin, [])
        for row in stride(from: 0, to: panels.count, by: 2) {
            for index in row..<min(row + 2, panels.count) {
                let x = margin + Double(index - row) * (Drawing.width + gap)
                body.append("<g transform=\"translate(\(Markup.point(x)) \(Markup.point(y)))\">")
                body.append("<text x=\"8\" y=\"14\" class=\"title\">\(Markup.escaped(panels[index].title))</text>")
                body.append("<g transform=\"translate(0 20)\">")
                body += drawings[index].elements + ["</g></g>"]
            }
            y += (drawings[row..<min(row + 2, panels.count)].map(\.height).max() ?? 0) + 20 + gap
        }
        var foot = Drawing()
        foot.text("Multiples are of the first bar's rate. One core of this machine:", margin + 8, y, "small")
        foot.text(machine.text, margin + 8, y + 18, "small")
        return framed(body + foot.elements, width: width, height: y + 18 + margin)
    }

    /// OpenSSL, and each engine's usual batch.
    private func engineRows(_ id: GroupID) -> [Measurement] {
        self[id].rows.filter { $0.engine == EngineCandidates.openSSL || $0.batch == EngineCandidates.usualBatch }
    }

    private func framed(_ body: [String], width: Double, height: Double) -> String {
        let size = "width=\"\(Int(width))\" height=\"\(Int(height))\""
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(height))" \(size) role="img" \
            aria-labelledby="title">
            <title id="title">What a record costs, in microseconds of a core: OpenSSL beside each engine</title>
            <style>
            \(ReportStyle.colors("svg"))
            \(ReportStyle.drawing)
            .frame{fill:var(--card);stroke:var(--line)}
            </style>
            <rect x="1" y="1" width="\(Int(width) - 2)" height="\(Int(height) - 2)" rx="10" class="frame"/>
            \(body.joined(separator: "\n"))
            </svg>

            """
    }
}
