internal import Log
internal import Settings

/// The report of a replay: one HTML file, in the order in which a reader asks. Same facts, same bytes.
struct ReplayReport {
    let facts: ReplayFacts
    let run: RunFacts

    var outcomes: OutcomeList { facts.outcomes }

    var html: [UInt8] {
        var page = ReportPage(title: "attest-worker: what a replay found", lead: lead)
        page.add("summary", "Summary", tiles)
        if let diff = facts.diff { page.add("changes", "What the other configuration changes") { changes(diff, &$0) } }
        page.add("when", "When", when)
        page.add("why", "Why", why)
        page.add("where", "Where", places)
        page.add("who", "Who", who)
        page.add("what", "What decides", what)
        page.add("records", "Records that were not accepted", records)
        page.add("dead-letters", "Dead letters", letters)
        page.add("facts", "About this run", about)
        return page.bytes
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

    static func text(_ place: RecordPlace) -> String { "\(place.partition)/\(place.offset)" }

    // MARK: 1

    private func tiles(_ page: inout Markup) {
        let (total, accepted) = (facts.total, facts.total(.accepted))
        let (refused, deferred, letters) = (facts.total(.refused), facts.total(.deferred), facts.total(.deadLetter))
        let known = facts.devices.devices
        let never = known.count { $0.accepted == 0 }
        let atLeast = facts.devices.recordsBeyond > 0 ? "at least " : ""
        page.element("div", ["class": "tiles"]) { tiles in
            Markup.tile("Records", total.grouped, "", "", &tiles)
            let again = facts.duplicates > 0 ? ", \(facts.duplicates.grouped) answered before" : ""
            Markup.tile("Accepted", accepted.grouped, Figure.share(accepted, of: total) + again, "t-ok", &tiles)
            Markup.tile("Refused", refused.grouped, Figure.share(refused, of: total), "t-no", &tiles)
            if deferred > 0 {
                Markup.tile("Deferred", deferred.grouped, Figure.share(deferred, of: total), "t-later", &tiles)
            }
            Markup.tile("Dead letters", letters.grouped, Figure.share(letters, of: total), "t-dead", &tiles)
            Markup.tile("Devices", atLeast + known.count.grouped, "by installation ID, else key ID", "", &tiles)
            let share = Figure.share(never, of: known.count)
            Markup.tile("Devices never accepted", atLeast + never.grouped, share, never > 0 ? "t-no" : "", &tiles)
        }
        page.element("p", ["class": "lead"], sentence)
    }

    private var sentence: String {
        guard facts.total > 0 else { return "The capture has no records." }
        let reasons = occurred([.refused, .deferred])
        guard let first = reasons.first else { return "Every request was accepted." }
        let count = reasons.reduce(0) { $0 + facts.records[$1] }
        let share = Figure.share(facts.records[first], of: count)
        let devices = facts.recordDevices[first]
        return "The most frequent reason is \(outcomes.name(first)): \(share) of what was not accepted, "
            + Figure.count(facts.records[first], "record")
            + (devices > 0 ? " of \(Figure.count(devices, "device"))." : ".")
    }
}
