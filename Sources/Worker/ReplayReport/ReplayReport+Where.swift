internal import AppAttest
internal import Settings

/// 4: what was not accepted, by what it was sent by and to.
extension ReplayReport {
    private static let mostValues = 10
    private static let mostReasons = 5
    func places(_ page: inout Markup) {
        let judged = facts.total - facts.total(.deadLetter)
        let refused = judged - facts.total(.accepted)
        guard refused > 0 else { return page.note("Nothing was refused.") }
        let reasons = Array(occurred([.refused, .deferred]).prefix(Self.mostReasons))
        page.note(
            "The share of records that were not accepted, dead letters left out: \(Figure.share(refused, of: judged)) "
                + "over all. A shaded cell lies above the share over all (×: how many times it), a blue one below, and not by "
                + "chance (95 %). What a refused object says of its device is its own claim. System and version of an "
                + "assertion are those of its device's attestation."
        )
        let columns = ["", "records", "not accepted"] + reasons.map(outcomes.name)
        page.card { card in
            card.table(columns, class: "heat") { body in
                let average = [refused] + reasons.map { facts.records[$0] }
                for dimension in Dimension.allCases { rows(dimension, reasons, average, judged, &body) }
            }
        }
    }

    private func rows(
        _ dimension: Dimension,
        _ reasons: [Int],
        _ average: [Int],
        _ judged: Int,
        _ body: inout Markup
    ) {
        let (rows, rest, restValues) = facts.values[dimension.rawValue].rows(most: Self.mostValues)
        body.element("tr", ["class": "g"]) { row in
            row.element("td", ["colspan": String(reasons.count + 3)], dimension.name)
        }
        func write(_ counts: [Int], _ name: (inout Markup) -> Void) {
            let total = counts.reduce(0, +)
            guard total > 0 else { return }
            body.element("tr") { row in
                row.element("td", [:], name)
                row.element("td", total.grouped)
                let parts = [total - counts[0]] + reasons.map { counts[$0] }
                for (part, all) in zip(parts, average) { Self.cell(part, total, all, judged, &row) }
            }
        }
        for (text, counts) in rows {
            write(counts) { cell in
                if let text { cell.foreign(text.shown) } else { cell.element("span", ["class": "soft"], "not known") }
            }
        }
        write(rest) { cell in
            let name = restValues > 0 ? Figure.count(restValues, "other value") : "other values"
            cell.element("span", ["class": "soft"], name)
        }
    }

    /// - Parameters:
    ///   - part: of `total` records.
    ///   - all: the same of `judged` records, over the whole capture.
    private static func cell(_ part: Int, _ total: Int, _ all: Int, _ judged: Int, _ row: inout Markup) {
        guard part > 0 else {
            let isLow = Lift.shade(0, of: total, average: Double(all) / Double(judged)) == "hl"
            return row.element("td", ["class": isLow ? "soft hl" : "soft"], "–")
        }
        let average = Double(all) / Double(judged)
        let lift = Double(part) / Double(total) / average
        let shade = Lift.shade(part, of: total, average: average)
        row.element("td", shade.isEmpty ? [:] : ["class": shade]) { cell in
            cell.text(Figure.share(part, of: total))
            if !shade.isEmpty { cell.element("span", ["class": "lift"], Figure.lift(lift)) }
        }
    }
}
