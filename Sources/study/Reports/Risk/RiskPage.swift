internal import AppCheck
internal import Settings

extension RiskReport {
    /// The page of `risk --report`.
    package func report(version: String, source: String) -> Report {
        let span = end.map { "As of \(UTCText.of($0)), the newest event." } ?? "No event tells a metric."
        return Report(
            "attest-worker: fraud risk metrics",
            lead: "\(span) \(events.counted("metric", "was", "were")) read. All times here are UTC.",
            own: members,
            apps: sections.map { ($0.label, $0.parts) },
            about: """
                Apple's metric is about how many keys one device has attested for the app in 30 days. A key counts \
                once, with its newest metric, for 30 days, so one device may be many keys here; `attest-worker key` \
                finds a key by its hash. The metric grows with reinstalling, restoring and moving to a new device \
                too: a change of the distribution says more than a value. Intervals are Wilson's, 95 %.
                """,
            [
                ("program", "attest-worker \(version)"), ("events from", source), ("other events", others.grouped),
                ("records that are not events", unreadable.grouped),
            ]
        )
    }
}

extension RiskReport.Section {
    fileprivate var parts: [Report.Part] {
        guard now.total > 0 else { return [.text("No key of this app has a metric that counts.")] }
        return [
            .tiles(tiles), .heading("Keys by metric"), .table(distribution), .heading("Highest keys"), .table(table),
        ]
    }

    private var tiles: [Report.Tile] {
        let interval = Wilson(now.above, of: now.total).map { " (\($0.text))" } ?? ""
        return [
            Report.Tile("Keys with a metric", .count(now.total), "mode " + (mode?.rawValue ?? "unknown"), .blue),
            Report.Tile(warning: "Above \(limit)", now.above, Figure.share(now.above, of: now.total) + interval),
            Report.Tile(
                "Above \(limit) a week before",
                .count(before.above),
                before.total == 0
                    ? "none known then" : "\(Figure.share(before.above, of: before.total)) of \(before.total.grouped)"
            ),
            Report.Tile("Highest metric", .count(devices.first?.metric ?? 0)),
        ]
    }

    private var distribution: Report.Table {
        let rows = RiskDistribution.names.indices.map { row in
            let (count, earlier) = (now.counts[row], before.counts[row])
            return Report.Row(
                [
                    .text(RiskDistribution.names[row]), .count(count), .share(count, of: now.total, average: nil),
                    .count(earlier), .share(earlier, of: before.total, average: nil),
                ],
                drawing: [Double(count)]
            )
        }
        return Report.Table(["metric", "keys", "share", "a week before", "share then"], rows, bars: [.blue])
    }

    private var table: Report.Table {
        Report.Table(
            ["key", "metric", "a week before", "since"],
            highest.map { high in
                Report.Row([
                    .code(high.name), .count(high.metric), high.before.map { .count(Int($0)) } ?? .missing,
                    .text(high.time),
                ])
            }
        )
    }
}
