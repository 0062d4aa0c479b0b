internal import AppAttest
internal import AppCheck
internal import Settings
internal import Streams

/// 4, 8 and 9: each reason with its records and devices, what it means and what to do; then records that were not
/// accepted, each with the command that explains it.
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
        return counts.ranked.prefix(3).map { sentence, count in
            "\(count.grouped) of the first \(examples.count.counted("record")): \(ShownText.of(sentence, most: 400))"
        }
    }

    /// Unknown keys whose attestations the capture has: those are to be looked at first.
    private var causes: String? {
        let count = facts.attestations.values.reduce(0, +)
        guard count > 0 else { return nil }
        let reasons = facts.attestations.ranked.map { "\($0.key) \($0.value.grouped)" }.joined(separator: ", ")
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

    // MARK: 8 and 9

    private static let mostRecords = 300
    private static let mostLetters = 60
    private static let mostValues = 4

    var records: [Report.Part] {
        let reasons = occurred([.refused, .deferred])
        return reasons.isEmpty ? [.text("There are none.")] : list(reasons, most: Self.mostRecords)
    }

    var letters: [Report.Part] {
        let reasons = occurred([.deadLetter])
        guard !reasons.isEmpty else { return [.text("There are none: every record is a request.")] }
        let entries = reasons.map { reason in
            entry(of: reason, [facts.records[reason].counted("record")])
        }
        return [.text("Records that are not requests. They have no result and no answer."), .reasons(entries)]
            + list(reasons, most: Self.mostLetters)
    }

    private func list(_ reasons: [Int], most: Int) -> [Report.Part] {
        let (picked, total) = (facts.examples.picked(reasons, most: most), count(reasons))
        let note =
            picked.count == total
            ? "All \(total.grouped) of them, by reason."
            : "\(picked.count.grouped) of \(total.grouped): the first of each reason. results.ndjson has all of them, "
                + "and replay --explain FILE says of each what was presented and expected."
        let command = commandForAll.map { "The command that explains a record: \($0)" }
        return [note, command].compactMap { $0.map { .text($0) } } + [.records(picked.map { entry($0) })]
    }

    private func entry(_ example: RecordExample) -> Report.Entry {
        let place = Self.text(example.place)
        let hasTime = InboundRecord.timestamps.contains(example.time)
        var details = [place, hasTime ? UTCText.of(example.time, .millisecond) : "without a time"]
        if let verb = example.verb { details.append(verb.rawValue) }
        if let app = example.app, hasApps { details.append(ShownText.of(app)) }
        let reading = example.reading.map { ShownText.of($0.sentence, most: 400) }
        let notes = [example.keyID.map { "key ID \($0.base64)" }, reading]
        return Report.Entry(
            title: outcomes.name(Int(example.outcome)),
            details: details,
            notes: notes.compactMap(\.self),
            pairs: example.comparisons.prefix(Self.mostValues).map { row in
                (ShownText.of(row.name), ShownText.of("\(row.presented)"), ShownText.of("\(row.expected)"))
            },
            command: commandForAll == nil ? run.explains(place) : "--record \(place)"
        )
    }
}
