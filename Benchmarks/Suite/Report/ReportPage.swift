/// The figures as one HTML file that needs nothing else: no script, no font, no picture from elsewhere.
struct ReportPage {
    private let report: BenchmarkReport
    private let charts: ReportCharts

    init(_ report: BenchmarkReport) {
        self.report = report
        charts = ReportCharts(report)
    }

    var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width,initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>attest-worker: what a record costs</title>
        <style>
        \(ReportStyle.colors(":root"))
        \(ReportStyle.paper)
        \(ReportStyle.page)
        \(ReportStyle.drawing)
        </style>
        </head>
        <body>
        <main>
        \(head)
        \(sections)
        <h2>All figures</h2>
        <p>A ratio is the rate beside that of the table's first row; that of bare threads beside one bare thread. Ratios are
        of processor time, in the two tables by lanes and cores of rates on the wall.</p>
        \(tables)
        </main>
        </body>
        </html>

        """
    }

    private var head: String {
        let machine = Markup.escaped(report.machine.text + (report.date.map { ", \($0)" } ?? ""))
        return """
            <h1>attest-worker: what a record costs</h1>
            <p>\(machine)</p>
            <p>Each path is measured in turns with OpenSSL's bare signatures, in one process; values are medians of the turns.
            Ratios compare within a turn: what slows the machine down slows both. Absolute times depend on the machine.
            Measured by <code>SOAK=1 swift run -c release Benchmarks --page FILE.html</code>.</p>
            """
    }

    private var sections: String {
        [
            section("Signatures", [charts.ratio(.p256, "P-256"), charts.ratio(.p384, "P-384")]),
            section(
                "Batch size and latency",
                [
                    charts.latency(.p256, "P-256", whole: true), charts.latency(.p256, "P-256", whole: false),
                    charts.latency(.p384, "P-384", whole: true), charts.latency(.p384, "P-384", whole: false),
                ]
            ),
            section(
                "From file to files",
                [
                    charts.replay(.assertions, "Assertions"), charts.lanes(),
                    charts.replay(.attestations, "Attestations with receipts"),
                    charts.replay(.attestationsWithoutReceipts, "Attestations, receipts ignored"),
                ]
            ),
            section("Everything else", [charts.stages(), charts.tokens()]),
        ].joined(separator: "\n")
    }

    private func section(_ title: String, _ figures: [ReportCharts.Figure]) -> String {
        let cards = figures.map { figure in
            "<figure><figcaption><b>\(Markup.escaped(figure.title))</b><span>\(Markup.escaped(figure.note))</span>"
                + "</figcaption>\n\(figure.drawing.svg(title: figure.title))</figure>"
        }
        return "<h2>\(Markup.escaped(title))</h2>\n<div class=\"cards\">\n\(cards.joined(separator: "\n"))\n</div>"
    }

    // MARK: Tables

    private var tables: String {
        let groups = report.groups.map { group in
            table(
                group.id.title,
                BenchmarkReport.Group.columns,
                group.rows.map { [$0.name] + BenchmarkReport.Group.cells($0) }
            )
        }
        let tokens = table(
            "tokens",
            ["µs of a core", "bare signature", "of the bare cost", "quartiles"],
            report.tokens.map { cost in
                let (ratio, digits) = (cost.ratio, 3)
                return [
                    cost.name, Markup.figure(cost.minted), Markup.figure(cost.bare),
                    Benchmarks.rounded(ratio.median, digits),
                    Benchmarks.rounded(ratio.low, digits) + "–" + Benchmarks.rounded(ratio.high, digits),
                ]
            }
        )
        return (groups + [tokens] + report.stages.results.map(stages)).joined(separator: "\n")
    }

    private func stages(_ result: StageReport.Result) -> String {
        let titles = ["whole"] + MeasuredStage.allCases.map(\.title)
        return table(
            "\(result.shape.rawValue) of assertions, without signatures",
            ["µs of a core", "allocations", "bytes"],
            zip(titles, result.figures).map { title, figure in
                [title, Markup.figure(figure.cost.seconds * 1e6)]
                    + (StageReport.counts
                        ? [Benchmarks.rounded(figure.cost.allocations, 2), Benchmarks.rounded(figure.cost.bytes, 0)]
                        : ["–", "–"])
            }
        )
    }

    private func table(_ title: String, _ columns: [String], _ rows: [[String]]) -> String {
        func row(_ cells: [String], _ tag: String) -> String {
            "<tr>" + cells.map { "<\(tag)>\(Markup.escaped($0))</\(tag)>" }.joined() + "</tr>"
        }
        let lines = [row([""] + columns, "th")] + rows.map { row($0, "td") }
        return "<div class=\"table\"><table><caption>\(Markup.escaped(title))</caption>\n"
            + lines.joined(separator: "\n") + "\n</table></div>"
    }
}
