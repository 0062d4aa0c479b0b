internal import AppCheck
internal import CommandFrame
package import Reports

/// Reasons as a terminal shows them, in 100 columns.
package enum ReasonView {
    /// The name of each, whose fault it usually is, and what it means.
    package static func table(_ entries: [ReasonEntry]) -> String {
        let rows = entries.map { ($0.code, $0.text.parties.map(\.rawValue).joined(separator: ", "), $0.text.meaning) }
        let taken = (rows.map(\.0.count).max() ?? 0) + (rows.map(\.1.count).max() ?? 0)
        let width = HelpText.columns - 4 - taken
        var table = TextTable()
        table.add("reason", "usual cause", "meaning")
        for (code, causes, meaning) in rows {
            for (index, line) in TextWrap.lines(ReasonText.plain(meaning), width: width).enumerated() {
                index == 0 ? table.add(code, causes, line) : table.add("", "", line)
            }
        }
        return table.text + "\n\n'attest-worker reasons REASON' says what to do."
    }

    package static func whole(_ entry: ReasonEntry) -> String {
        var table = TextTable()
        func add(_ name: String, _ text: String) {
            for (index, line) in TextWrap.lines(text, width: 85).enumerated() {
                table.add("  " + (index == 0 ? name : ""), line)
            }
        }
        add("verdict", entry.verdict)
        let status = entry.status.map { "\($0.code) \($0.status): \($0.message)" }
        add("status", status ?? "none: the record gets no answer")
        add("meaning", ReasonText.plain(entry.text.meaning))
        for (index, party) in entry.text.parties.enumerated() {
            add(index == 0 ? "usual cause" : "or", "\(party.rawValue): \(party.meaning)")
        }
        add("what to do", ReasonText.plain(entry.text.action))
        return entry.code + "\n\n" + table.text
    }
}
