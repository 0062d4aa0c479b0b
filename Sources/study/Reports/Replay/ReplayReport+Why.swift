internal import AppAttest
internal import AppCheck
internal import Settings

/// 4: each reason with its records and devices, what it means and what to do.
extension ReplayReport {
    var why: [Report.Part] {
        let reasons = occurred([.refused, .deferred])
        guard !reasons.isEmpty else { return [.text("Nothing was refused.")] }
        return [
            .text("A device counts once for each reason that it met. Shares are of all records."),
            .reasons(reasons.map { explain($0) }),
        ]
    }

    private func explain(_ reason: Int) -> Report.Entry {
        let (records, devices) = (facts.records[reason], facts.population.met[reason])
        var entry = entry(
            of: reason,
            [
                records.counted("record"), devices > 0 ? devices.counted("device") : "no device is named",
                Figure.share(records, of: facts.total),
            ]
        )
        if entry.title == Reason.unknownKey.code, let causes { entry.notes.append(causes) }
        if let first = facts.firstSeen[reason], let last = facts.lastSeen[reason] {
            entry.notes.append(first == last ? UTCText.of(first) : "\(UTCText.of(first)) to \(UTCText.of(last))")
        }
        entry.notes += readings(of: reason)
        return entry
    }

    /// The readings that fit most of a reason's examples.
    private func readings(of reason: Int) -> [String] {
        let examples = facts.examples[reason]
        let counts = Dictionary(examples.compactMap(\.reading).map { ($0.sentence, 1) }, uniquingKeysWith: +)
        let sorted = counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
        return sorted.prefix(3).map { sentence, count in
            "\(count.grouped) of the first \(examples.count.counted("record")): \(ShownText.of(sentence, most: 400))"
        }
    }

    /// Unknown keys whose attestations the capture has: those are to be looked at first.
    private var causes: String? {
        let count = facts.attestations.values.reduce(0, +)
        guard count > 0 else { return nil }
        let sorted = facts.attestations.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
        let reasons = sorted.map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")
        return "\(count.counted("record")) of keys whose attestation was refused earlier in this capture: \(reasons). "
            + "Look at those attestations first."
    }

    func entry(of reason: Int, _ details: [String]) -> Report.Entry {
        let entry = outcomes.entries[reason - 1]
        let causes = entry.text.parties.map { "\($0.rawValue): \($0.meaning)" }.joined(separator: "; or ")
        return Report.Entry(
            title: entry.code,
            details: details,
            pairs: [
                ("meaning", ReasonText.plain(entry.text.meaning), nil), ("usual cause", causes, nil),
                ("what to do", ReasonText.plain(entry.text.action), nil),
            ]
        )
    }
}
