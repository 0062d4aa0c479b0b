/// The report's charts. Titles say what is seen.
struct ReportCharts {
    struct Figure {
        let title: String
        let note: String
        let drawing: Drawing
    }

    private let report: BenchmarkReport

    init(_ report: BenchmarkReport) { self.report = report }

    private static let names = ["openssl": "OpenSSL", "portable": "portable", "ifma": "ifma (AVX-512)"]

    private var engines: [String] { EngineCandidates.engines }
    private var best: String { engines.last ?? EngineCandidates.openSSL }

    // MARK: Engines

    func ratio(_ id: BenchmarkReport.GroupID, _ curve: String) -> Figure {
        let group = report[id]
        let sizes = [1, 8, EngineCandidates.usualBatch, 256]
        let bars = sizes.map { size in
            BarChart.Group(
                label: size == 1 ? "a signature alone" : "batch of \(size)",
                bars: engines.compactMap { group.row(engine: $0, batch: size) }.map { Self.bar(ratio: $0) }
            )
        }
        let ratio = group.row(engine: best, batch: EngineCandidates.usualBatch)?.ratio.median ?? 1
        return Figure(
            title: "\(curve): \(best) verifies \(Markup.figure(ratio)) times as fast as OpenSSL",
            note: "In batches of \(EngineCandidates.usualBatch). The dashed line is OpenSSL, one signature after "
                + "another; thin lines are quartiles.",
            drawing: BarChart(
                axis: "times OpenSSL's rate on one core",
                groups: bars,
                legend: engines.map { (SeriesColor(engine: $0), Self.names[$0] ?? $0) },
                mark: 1
            ).drawing
        )
    }

    private static func bar(ratio row: Measurement) -> BarChart.Bar {
        BarChart.Bar(
            value: row.ratio.median,
            text: "\(Markup.figure(row.ratio.median))×",
            color: SeriesColor(engine: row.engine),
            spread: row.ratio.low...row.ratio.high
        )
    }

    /// - Parameter whole: until all of the batch is verified; else for each of its signatures.
    func latency(_ id: BenchmarkReport.GroupID, _ curve: String, whole: Bool) -> Figure {
        let (group, sizes) = (report[id], EngineCandidates.batches)
        func values(_ engine: String) -> [Double] {
            let alone = group.row(engine: engine, batch: 1)?.microseconds ?? 0
            return sizes.map { size in
                // OpenSSL takes one signature after another.
                let row = engine == EngineCandidates.openSSL ? nil : group.row(engine: engine, batch: size)
                return (row?.microseconds ?? alone) * (whole ? Double(size) : 1)
            }
        }
        let all = [EngineCandidates.openSSL] + engines
        let ours = values(best)
        let last = Markup.time(ours.last ?? 0)
        return Figure(
            title: whole
                ? "\(curve): \(best) has verified a batch of \(sizes.last ?? 0) after \(last)"
                : "\(curve): \(best) takes \(Markup.time(ours[0])) for a signature alone, \(last) among \(sizes.last ?? 0)",
            note: "Processor time of one core. Both scales are logarithmic.",
            drawing: LineChart(
                xAxis: "signatures in the batch",
                yAxis: whole ? "µs until the whole batch is verified" : "µs for each signature",
                steps: sizes,
                series: all.map { engine in
                    LineChart.Series(
                        name: engine == all[0] ? "OpenSSL" : engine,
                        color: SeriesColor(engine: engine),
                        values: values(engine)
                    )
                }
            ).drawing
        )
    }

    // MARK: Replay

    func replay(_ id: BenchmarkReport.GroupID, _ what: String) -> Figure {
        let rows = report[id].rows
        let ours = rows.last { $0.engine == best }
        return Figure(
            title: "\(what): \(Markup.figure(ours?.microseconds ?? 0)) µs a record with \(best), "
                + "\(Markup.figure(ours?.ratio.median ?? 0)) times OpenSSL's bare rate",
            note: "The whole program from a capture to its result files, on one lane, with each engine.",
            drawing: Self.costs(rows).drawing
        )
    }

    /// A bar for each row: what a record takes of a core.
    static func costs(_ rows: [Measurement], of what: String = "record") -> BarChart {
        BarChart(
            axis: "µs of a core for each \(what)",
            groups: rows.map { row in
                let bar = BarChart.Bar(
                    value: row.microseconds,
                    text: "\(Markup.figure(row.microseconds)) µs"
                        + (row.name == row.baseline ? "" : ", \(Markup.figure(row.ratio.median))×"),
                    color: SeriesColor(engine: row.engine)
                )
                return BarChart.Group(label: row.name, bars: [bar])
            }
        )
    }

    func lanes() -> Figure {
        let rows = report[.lanes].rows
        let most = rows.filter { $0.engine == nil }.last
        let ratio = Markup.figure(most?.ratio.median ?? 0)
        return Figure(
            title: "\(most?.lanes ?? 0) lanes replay \(ratio) times as fast as one lane bound to one core",
            note: "Records in a second on the wall. Bare threads beside them show what the cores give together.",
            drawing: BarChart(
                axis: "thousands of records in a second",
                groups: rows.map { row in
                    let bar = BarChart.Bar(
                        value: row.perSecond / 1000,
                        text: Markup.figure(row.perSecond / 1000)
                            + (row.name == row.baseline ? "" : ", \(Markup.figure(row.ratio.median))×"),
                        color: row.engine == nil ? .fourth : .first
                    )
                    return BarChart.Group(label: row.name, bars: [bar])
                },
                legend: [(.fourth, "replay"), (.first, "OpenSSL alone")]
            ).drawing
        )
    }

    // MARK: Stages and tokens

    func stages() -> Figure {
        let results = report.stages.results
        let colors: [SeriesColor] = [.fourth, .fifth]
        let shares = results.map { "\(Markup.figure($0.shareOfVerification.median)) in \($0.shape.rawValue)" }
        func group(_ title: String, _ cost: (StageReport.Result) -> StageCost) -> BarChart.Group {
            let bars = zip(results, colors).map { result, color in
                let value = cost(result).seconds * 1e6
                return BarChart.Bar(value: value, text: "\(Markup.figure(value)) µs", color: color)
            }
            return BarChart.Group(label: title, bars: bars)
        }
        let rows = MeasuredStage.allCases.map { stage in group(stage.title) { $0.stages[stage.rawValue] } }
        return Figure(
            title: "All but the signature of an assertion, in bare P-256 verifications: "
                + shares.joined(separator: ", "),
            note: "The real loop on a log in memory, with an engine that accepts every signature at once.",
            drawing: BarChart(
                axis: "µs of a core for each record",
                groups: rows + [group("whole") { $0.whole }],
                legend: zip(results, colors).map { ($1, $0.shape.rawValue) }
            ).drawing
        )
    }

    func tokens() -> Figure {
        let dearest = report.tokens.map(\.ratio.median).max() ?? 1
        return Figure(
            title: "A token costs at most \(Benchmarks.rounded(dearest, 2)) times the bare signature in it",
            note: "OpenSSL signs, whatever the engine.",
            drawing: BarChart(
                axis: "µs of a core for each token",
                groups: report.tokens.map { cost in
                    BarChart.Group(
                        label: cost.name,
                        bars: [(cost.bare, SeriesColor.first), (cost.minted, .fourth)].map {
                            BarChart.Bar(value: $0, text: "\(Markup.figure($0)) µs", color: $1)
                        }
                    )
                },
                legend: [(.first, "the bare signature"), (.fourth, "the token")]
            ).drawing
        )
    }
}
