internal import Reports

/// The figures for tools. Names stay; new ones may be added.
extension BenchmarkReport {
    var members: [Facts.Member] {
        [
            ("schema", .count(1)),
            (
                "machine",
                [
                    "processor": .text(machine.processor),
                    "vpmadd52PerCycle": .figure(machine.vpmadd52PerCycle, digits: 2), "cores": .count(machine.cores),
                    "openSSL": .text(machine.openSSL),
                ]
            ), ("date", date.map { .text($0) }), ("rows", .list(rows)),
            ("stages", .list(stages.results.flatMap(Self.stages))),
        ]
    }

    private var rows: [Facts] {
        groups.flatMap { group in
            group.rows.map { row in
                Self.row(
                    (group.id.rawValue, row.name, row.baseline),
                    [
                        ("engine", row.engine.map { .text($0) }), ("batch", row.batch.map { .count($0) }),
                        ("lanes", .count(row.lanes)),
                    ],
                    (row.perSecond, row.microseconds, row.ratio)
                )
            }
        }
            // Rates here too: the ratio is the token's to the bare signature's.
            + tokens.map { cost in
                let names = ("tokens", cost.name, "the bare signature")
                return Self.row(names, [], (1e6 / cost.minted, cost.minted, cost.ratio.inverse))
            }
            + stages.results.map { result in
                let names = ("withoutSignatures", result.shape.rawValue, "OpenSSL P-256 verify, bare")
                let seconds = result.whole.seconds
                return Self.row(names, [], (1 / seconds, seconds * 1e6, result.shareOfVerification.inverse))
            }
    }

    private static func row(
        _ names: (group: String, name: String, baseline: String),
        _ more: [Facts.Member],
        _ figures: (perSecond: Double, microseconds: Double, ratio: Spread)
    ) -> Facts {
        .object(
            [("group", .text(names.group)), ("name", .text(names.name)), ("baseline", .text(names.baseline))] + more + [
                ("recordsPerSecond", .figure(figures.perSecond, digits: 1)),
                ("microsecondsOfACore", .figure(figures.microseconds, digits: 3)),
                ("ratio", .figure(figures.ratio.median, digits: 4)),
                ("ratioLow", .figure(figures.ratio.low, digits: 4)),
                ("ratioHigh", .figure(figures.ratio.high, digits: 4)),
            ]
        )
    }

    private static func stages(_ result: StageReport.Result) -> [Facts] {
        result.figures.map { name, cost in
            [
                "shape": .text(result.shape.rawValue), "stage": .text(name),
                "microsecondsOfACore": .figure(cost.seconds * 1e6, digits: 3),
                "allocations": StageReport.counts ? .figure(cost.allocations, digits: 2) : nil,
                "bytes": StageReport.counts ? .figure(cost.bytes, digits: 0) : nil,
                "references": StageReport.counts ? .figure(cost.references, digits: 1) : nil,
            ]
        }
    }
}

extension Spread {
    /// Of the inverse ratios.
    var inverse: Spread { Spread(median: 1 / median, low: 1 / high, high: 1 / low) }

    private init(median: Double, low: Double, high: Double) {
        (self.median, self.low, self.high) = (median, low, high)
    }
}
