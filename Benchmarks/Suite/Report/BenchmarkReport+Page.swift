internal import Reports

/// The figures as a report: tables with a bar in each row, and what a batch's size does to latency as lines.
extension BenchmarkReport {
    var report: Report {
        var report = Report(
            title: "attest-worker: what a record costs",
            lead: machine.text + (date.map { ", \($0)" } ?? "")
        )
        report.own = members
        report.add("method", "How it is measured", [.text(Self.method)])
        report.add("p256", "P-256", verified(.p256, "P-256"))
        report.add("p384", "P-384", verified(.p384, "P-384"))
        report.add("replay", "From file to files", replayed)
        let others: [GroupID] = [.objects, .exchange, .exchangeES256, .heldKey]
        report.add("objects", "Objects and exchanges", others.map { .table(table(self[$0])) })
        report.add("tokens", "Tokens", minted)
        report.add("rest", "All but the signature", unsigned)
        return report
    }

    private static let method = """
        Each path is measured in turns with OpenSSL's bare signatures, in one process; values are medians of the turns. \
        Ratios compare within a turn: what slows the machine down slows both. Absolute times depend on the machine. A \
        ratio is the rate beside that of the table's first row; that of bare threads beside one bare thread. Ratios are \
        of processor time, in the tables by lanes and cores of rates on the wall. A bar is a row's processor time. \
        Measured by SOAK=1 swift run -c release Benchmarks --page FILE.html.
        """

    private var best: String { EngineCandidates.engines.last ?? EngineCandidates.openSSL }

    static func hue(of engine: String?) -> Report.Hue {
        switch engine {
        case "portable": .blue
        case "ifma": .orange
        default: .grey
        }
    }

    private func table(_ group: Group) -> Report.Table {
        let rows = group.rows.map { row in
            Report.Row(
                [
                    .text(row.name), .count(Int(row.perSecond)), .figure(row.microseconds, digits: 1),
                    .figure(row.ratio.median, digits: 2), .text(row.ratio.quartiles(2)),
                ],
                drawing: [row.microseconds],
                Self.hue(of: row.engine)
            )
        }
        return Report.Table([group.id.title] + Group.columns, rows, bars: [.grey])
    }

    // MARK: Signatures

    private func verified(_ id: GroupID, _ curve: String) -> [Report.Part] {
        let ratio = self[id].row(engine: best, batch: EngineCandidates.usualBatch)?.ratio.median ?? 1
        let lead =
            "\(curve): \(best) verifies \(Figure.three(ratio)) times as fast as OpenSSL, in batches of "
            + "\(EngineCandidates.usualBatch)."
        return [
            .lead(lead), .chart(latency(id, curve, whole: true)), .chart(latency(id, curve, whole: false)),
            .table(table(self[id])),
        ]
    }

    /// - Parameter whole: until all of the batch is verified; else for each of its signatures.
    private func latency(_ id: GroupID, _ curve: String, whole: Bool) -> Report.Chart {
        let (group, sizes) = (self[id], EngineCandidates.batches)
        func values(_ engine: String) -> [Double] {
            let alone = group.row(engine: engine, batch: 1)?.microseconds ?? 0
            return sizes.map { size in
                // OpenSSL takes one signature after another.
                let row = engine == EngineCandidates.openSSL ? nil : group.row(engine: engine, batch: size)
                return (row?.microseconds ?? alone) * (whole ? Double(size) : 1)
            }
        }
        let (ours, most) = (values(best).map(Figure.time), sizes.last ?? 0)
        let what =
            whole
            ? "\(best) has verified a batch of \(most) after \(ours.last ?? "")"
            : "\(best) takes \(ours[0]) for a signature alone, \(ours.last ?? "") among \(most)"
        return .lines(
            "\(curve): \(what)",
            "Processor time of one core. Both scales are logarithmic.",
            x: "signatures in the batch",
            y: whole ? "µs until the whole batch is verified" : "µs for each signature",
            steps: sizes,
            ([EngineCandidates.openSSL] + EngineCandidates.engines).map { engine in
                let values = values(engine)
                let name = engine == EngineCandidates.openSSL ? "OpenSSL" : engine
                return Report.Series(name, Self.hue(of: engine), values, text: Figure.time(values.last ?? 0))
            }
        )
    }

    // MARK: Replay, tokens, stages

    private var replayed: [Report.Part] {
        let ours = self[.assertions].rows.last { $0.engine == best }
        let most = self[.lanes].rows.filter { $0.engine == nil }.last
        let lead =
            "An assertion takes \(Figure.three(ours?.microseconds ?? 0)) µs of a core with \(best), "
            + "\(Figure.three(ours?.ratio.median ?? 0)) times OpenSSL's bare rate; \(most?.lanes ?? 0) lanes replay "
            + "\(Figure.three(most?.ratio.median ?? 0)) times as fast as one lane bound to one core."
        let groups: [GroupID] = [.assertions, .attestations, .attestationsWithoutReceipts, .lanes, .allCores]
        return [.lead(lead)] + groups.map { .table(table(self[$0])) }
    }

    private var minted: [Report.Part] {
        let dearest = tokens.map(\.ratio.median).max() ?? 1
        let rows = tokens.map { cost in
            Report.Row(
                [.text(cost.name)] + [cost.minted, cost.bare].map { .figure($0, digits: 2) } + [
                    .figure(cost.ratio.median, digits: 3), .text(cost.ratio.quartiles(3)),
                ],
                drawing: [cost.bare, max(0, cost.minted - cost.bare)]
            )
        }
        let columns = ["a token minted", "µs of a core", "bare signature", "of the bare cost", "quartiles"]
        return [
            .lead("A token costs at most \(Figure.fixed(dearest, 2)) times the bare signature in it; OpenSSL signs."),
            .table(Report.Table(columns, rows, bars: [.grey, .green], ["the bare signature", "the rest"])),
        ]
    }

    private var unsigned: [Report.Part] {
        let shares = stages.results.map { "\(Figure.three($0.shareOfVerification.median)) in \($0.shape.rawValue)" }
        return [
            .lead(
                """
                All but the signature of an assertion, in bare P-256 verifications: \(shares.joined(separator: ", ")). \
                The real loop on a log in memory, with an engine that accepts every signature at once.
                """
            )
        ] + stages.results.map { .table(Self.table($0)) }
    }

    private static func table(_ result: StageReport.Result) -> Report.Table {
        let titles = ["whole"] + MeasuredStage.allCases.map(\.title)
        let rows = zip(titles, result.figures).map { title, figure in
            let counts: [Report.Value] = [
                .figure(figure.cost.allocations, digits: 2), .figure(figure.cost.bytes, digits: 0),
                .figure(figure.cost.references, digits: 1),
            ]
            let time = figure.cost.seconds * 1e6
            return Report.Row(
                [.text(title), .figure(time, digits: 2)] + (StageReport.counts ? counts : counts.map { _ in .missing }),
                drawing: [time]
            )
        }
        return Report.Table(
            [result.shape.rawValue, "µs of a core", "allocations", "bytes", "retains and releases"],
            rows,
            bars: [.green]
        )
    }
}

extension Spread {
    func quartiles(_ digits: Int) -> String { Figure.fixed(low, digits) + "–" + Figure.fixed(high, digits) }
}

extension Figure {
    /// Three digits, or all of a larger whole number.
    static func three(_ value: Double) -> String {
        // As rounded: 9.996 is 10.0.
        fixed(value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)
    }

    /// Microseconds, or milliseconds where there are many.
    static func time(_ microseconds: Double) -> String {
        microseconds < 2000 ? three(microseconds) + " µs" : three(microseconds / 1000) + " ms"
    }
}
