internal import AppAttest
internal import Settings

/// 5: what was not accepted, by what it was sent by and to.
extension ReplayReport {
    private static let mostValues = 10
    private static let mostReasons = 5

    var places: [Report.Part] {
        let judged = facts.total - facts.total(.deadLetter)
        let refused = judged - facts.total(.accepted)
        guard refused > 0 else { return [.text("Nothing was refused.")] }
        let reasons = Array(occurred([.refused, .deferred]).prefix(Self.mostReasons))
        let averages = ([refused] + reasons.map { facts.records[$0] }).map { Double($0) / Double(judged) }
        let all = Dimension.texts.flatMap { dimension -> [Report.Row] in
            [.group(dimension.name)] + rows(dimension, reasons, averages)
        }
        return [
            .text(
                """
                The share of records that were not accepted, dead letters left out: \(Figure.share(refused, of: judged)) \
                over all. A shaded cell lies above the share over all (×: how many times it), a blue one below, and not \
                by chance (95 %). What a refused object says of its device is its own claim. System and version of an \
                assertion are those of its device's attestation.
                """
            ), .table(Report.Table(["", "records", "not accepted"] + reasons.map(outcomes.name), all)),
        ]
    }

    private func rows(_ dimension: Dimension, _ reasons: [Int], _ averages: [Double]) -> [Report.Row] {
        let (rows, rest, restValues) = facts.population.values[dimension.rawValue].rows(most: Self.mostValues)
        let restName = restValues > 0 ? restValues.counted("other value") : "other values"
        return (rows.map { ($0.key.map(\.shown) ?? "not known", $0.counts) } + [(restName, rest)])
            .compactMap { name, counts in
                let total = counts.reduce(0, +)
                guard total > 0 else { return nil }
                let parts = [total - counts[0]] + reasons.map { counts[$0] }
                return Report.Row(
                    [.foreign(name), .count(total)]
                        + zip(parts, averages).map { .share($0, of: total, average: $1) }
                )
            }
    }
}
