internal import AppAttest
internal import AppCheck
internal import Pipeline
internal import Settings
internal import Streams

/// 8 and 9: records that were not accepted, each with the command that explains it.
extension ReplayReport {
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
        let command = run.commandForAll.map { "The command that explains a record: \($0)" }
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
            command: run.commandForAll == nil ? run.explains(place) : "--record \(place)"
        )
    }
}
