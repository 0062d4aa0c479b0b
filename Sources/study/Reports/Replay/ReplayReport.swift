internal import AppCheck
internal import Pipeline
internal import Settings
internal import Streams

/// The report of a replay, in the order in which a reader asks. The same facts make the same report.
package struct ReplayReport {
    let facts: ReplayFacts
    let run: RunFacts
    /// The command in place of each record's own, which would be too long; nil where it is not.
    let commandForAll: String?

    private static let mostCommandBytes = 320

    package init(facts: ReplayFacts, run: RunFacts) {
        (self.facts, self.run) = (facts, run)
        let command = run.explains("PARTITION/OFFSET")
        commandForAll = command.utf8.count > Self.mostCommandBytes ? command : nil
    }

    var outcomes: OutcomeList { facts.outcomes }

    package var report: Report {
        var report = Report(title: "attest-worker: what a replay found", lead: lead)
        let diagnosis = Diagnosis(facts.population, outcomes, facts.times.columns(outcomes: outcomes.count))
        report.own = [("diagnosis", self.facts(of: diagnosis))]
        report.add("diagnosis", "What refusals depend on", parts(of: diagnosis))
        report.add("summary", "Summary", [.tiles(tiles), .lead(sentence)])
        if let diff = facts.diff { report.add("changes", "What the other configuration changes", changes(diff)) }
        report.add("when", "When", when)
        report.add("why", "Why", why)
        report.add("where", "Where", places)
        report.add("who", "Who", who)
        report.add("what", "What decides", what)
        report.add("records", "Records that were not accepted", records)
        report.add("dead-letters", "Dead letters", letters)
        report.add("facts", "About this run", about)
        return report
    }

    private var lead: String {
        guard let first = facts.firstSeen.compactMap(\.self).min(), let last = facts.lastSeen.compactMap(\.self).max()
        else { return "All times here are UTC." }
        let (from, to) = (UTCText.of(first), UTCText.of(last))
        return "Records of \(from == to ? from : "\(from) to \(to)"). All times here are UTC and the records' own: "
            + "each record was judged as of its own time."
    }

    /// Outcomes of these kinds that occurred, the most frequent first.
    func occurred(_ kinds: Set<MarkKind>) -> [Int] {
        outcomes.indices.filter { kinds.contains(outcomes.kind($0)) && facts.records[$0] > 0 }
            .sorted { (facts.records[$0], -$0) > (facts.records[$1], -$1) }
    }

    /// How many records these outcomes have.
    func count(_ reasons: some Sequence<Int>) -> Int { reasons.reduce(0) { $0 + facts.records[$1] } }

    static func text(_ place: RecordPlace) -> String { "\(place.partition)/\(place.offset)" }

    var hasApps: Bool { facts.settings.registry.apps.count > 1 }

    // MARK: 2

    private var tiles: [Report.Tile] {
        let total = facts.total
        func tile(_ name: String, _ kind: MarkKind, _ note: String = "") -> Report.Tile {
            let count = facts.total(kind)
            return Report.Tile(name, .count(count), Figure.share(count, of: total) + note, kind.hue)
        }
        let known = facts.population.devices.devices
        let never = known.count { $0.accepted == 0 }
        let atLeast = facts.population.devices.recordsBeyond > 0 ? "at least; " : ""
        let again = facts.duplicates > 0 ? ", \(facts.duplicates.grouped) answered before" : ""
        return [Report.Tile("Records", .count(total)), tile("Accepted", .accepted, again), tile("Refused", .refused)]
            + (facts.total(.deferred) > 0 ? [tile("Deferred", .deferred)] : []) + [
                tile("Dead letters", .deadLetter),
                Report.Tile("Devices", .count(known.count), atLeast + "by installation ID, else key ID"),
                Report.Tile(warning: "Devices never accepted", never, atLeast + Figure.share(never, of: known.count)),
            ] + riskTiles
    }

    /// None where no app keeps receipts.
    private var riskTiles: [Report.Tile] {
        let (metrics, registry) = (facts.metrics, facts.settings.registry)
        guard registry.keepsReceipts else { return [] }
        let above = metrics.above(registry)
        let atLeast = metrics.isFull ? "at least; " : ""
        return [
            Report.Tile("Risk metrics known", .count(metrics.count), atLeast + "of keys"),
            Report.Tile(
                warning: "Keys above \(KnownMetrics.limitName(registry))",
                above,
                Figure.share(above, of: metrics.count)
            ), Report.Tile("Receipts refused", .count(metrics.refused)),
        ]
    }

    private var sentence: String {
        guard facts.total > 0 else { return "The capture has no records." }
        let reasons = occurred([.refused, .deferred])
        guard let first = reasons.first else { return "Every request was accepted." }
        let share = Figure.share(facts.records[first], of: count(reasons))
        let devices = facts.population.met[first]
        return "The most frequent reason is \(outcomes.name(first)): \(share) of what was not accepted, "
            + facts.records[first].counted("record") + (devices > 0 ? " of \(devices.counted("device"))." : ".")
    }
}
