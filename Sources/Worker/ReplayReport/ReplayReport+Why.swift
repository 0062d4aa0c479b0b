internal import AppCheck
internal import Settings

/// 3: each reason with its records and devices, what it means and what to do.
extension ReplayReport {
    func why(_ page: inout Markup) {
        let reasons = occurred([.refused, .deferred])
        guard !reasons.isEmpty else { return page.note("Nothing was refused.") }
        page.note("A device counts once for each reason that it met. Shares are of all records.")
        for reason in reasons { page.element("div", ["class": "card why"]) { explain(reason, &$0) } }
    }

    private func explain(_ reason: Int, _ card: inout Markup) {
        let entry = outcomes.entries[reason - 1]
        card.element("h3") { heading in
            heading.element("code", entry.code)
            heading.element("span", Figure.count(facts.records[reason], "record"))
            let devices = facts.recordDevices[reason]
            let named = devices > 0 ? Figure.count(devices, "device") : "no device is named"
            heading.element("span", ["class": "soft small"], named)
            heading.element("span", ["class": "soft small"], Figure.share(facts.records[reason], of: facts.total))
        }
        if entry.code == Reason.unknownKey.code { causes(&card) }
        if let first = facts.firstSeen[reason], let last = facts.lastSeen[reason] {
            let span = first == last ? UTCText.of(first) : "\(UTCText.of(first)) to \(UTCText.of(last))"
            card.element("p", ["class": "small"], span)
        }
        ReplayReport.text(of: entry, into: &card)
    }

    /// Unknown keys whose attestations the capture has: those are to be looked at first.
    private func causes(_ card: inout Markup) {
        let count = facts.attestations.values.reduce(0, +)
        guard count > 0 else { return }
        let sorted = facts.attestations.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
        let reasons = sorted.map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")
        card.element(
            "p",
            ["class": "lead"],
            "\(Figure.count(count, "record")) of keys whose attestation was refused earlier in this capture: \(reasons). "
                + "Look at those attestations first."
        )
    }

    static func text(of entry: ReasonEntry, into card: inout Markup) {
        let causes = entry.text.parties.map { "\($0.rawValue): \($0.meaning)" }.joined(separator: "; or ")
        card.element("dl", ["class": "say"]) { list in
            for (name, text) in [
                ("meaning", ReasonText.plain(entry.text.meaning)), ("usual cause", causes),
                ("what to do", ReasonText.plain(entry.text.action)),
            ] {
                list.element("dt", name)
                list.element("dd", text)
            }
        }
    }
}
