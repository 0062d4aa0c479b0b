internal import AppAttest
internal import AppCheck
internal import Log
internal import Pipeline
internal import Settings

/// 7 and 8: records that were not accepted, each with the command that explains it.
extension ReplayReport {
    private static let mostRecords = 300
    private static let mostLetters = 60
    private static let mostValues = 4

    func records(_ page: inout Markup) {
        let reasons = occurred([.refused, .deferred])
        let total = reasons.reduce(0) { $0 + facts.records[$1] }
        guard total > 0 else { return page.note("There are none.") }
        list(reasons, most: Self.mostRecords, total, &page)
    }

    func letters(_ page: inout Markup) {
        let reasons = occurred([.deadLetter])
        let total = reasons.reduce(0) { $0 + facts.records[$1] }
        guard total > 0 else { return page.note("There are none: every record is a request.") }
        page.note("Records that are no requests. They have no result and no answer.")
        for reason in reasons {
            page.element("div", ["class": "card why"]) { card in
                card.element("h3") { heading in
                    heading.element("code", outcomes.name(reason))
                    heading.element("span", Figure.count(facts.records[reason], "record"))
                }
                Self.text(of: outcomes.entries[reason - 1], into: &card)
            }
        }
        list(reasons, most: Self.mostLetters, total, &page)
    }

    private func list(_ reasons: [Int], most: Int, _ total: Int, _ page: inout Markup) {
        let picked = facts.examples.picked(reasons, most: most)
        page.note(
            picked.count == total
                ? "All \(total.grouped) of them, by reason."
                : "\(picked.count.grouped) of \(total.grouped): the first of each reason. results.ndjson has all of them, "
                    + "and replay --explain FILE says of each what was presented and expected."
        )
        if let command = run.commandForAll {
            page.note("The command that explains a record:")
            page.card { $0.element("code", ShownText.whole(command)) }
        }
        if picked.count > ReportStyle.paperRecords {
            let text = "Here are the first \(ReportStyle.paperRecords) of them: the page on a screen has all."
            page.element("p", ["class": "paper"], text)
        }
        page.card { card in
            card.element("ol", ["class": "records"]) { list in
                for example in picked { list.element("li") { item(example, &$0) } }
            }
        }
    }

    private func item(_ example: RecordExample, _ item: inout Markup) {
        let place = Self.text(example.place)
        let hasTime = InboundRecord.timestamps.contains(example.time)
        let time = hasTime ? UTCText.of(example.time, .millisecond) : "without a time"
        item.element("b", outcomes.name(Int(example.outcome)))
        item.text("  ·  \(place)  ·  \(time)")
        if let method = example.method { item.text("  ·  \(method.rawValue)") }
        if let app = example.app, facts.settings.registry.apps.count > 1 {
            item.text("  ·  ")
            item.foreign(app)
        }
        if let keyID = example.keyID { item.element("div", ["class": "soft small"], "key ID \(keyID.base64)") }
        if !example.comparisons.isEmpty {
            item.element("dl") { list in
                for row in example.comparisons.prefix(Self.mostValues) {
                    list.element("dt") { $0.foreign(row.name) }
                    list.element("dd") { value in
                        value.foreign("\(row.presented)")
                        value.element("span", ["class": "soft"], " – expected: ")
                        value.foreign("\(row.expected)")
                    }
                }
            }
        }
        let command = run.commandForAll == nil ? run.explains(place) : "--record \(place)"
        item.element("code") { $0.text(ShownText.whole(command)) }
    }
}
