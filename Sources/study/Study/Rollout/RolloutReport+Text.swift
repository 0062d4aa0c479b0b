internal import AppCheck
internal import CommandFrame
internal import Reports
internal import Settings

/// The state of each rollout as a terminal shows it.
extension RolloutReport {
    package var text: String {
        var table = TextTable([.left, .left, .right, .right, .right, .right, .right])
        table.add("app", "mode", "share", "successes", "failures", "failed", "not admitted", "may grow")
        for name in names {
            let tally = tallies[name] ?? RolloutTally()
            let rollout = rollout(of: name)
            let (mayGrow, why) = judgement(of: name)
            table.add([
                label(of: name), rollout?.mode.rawValue ?? "-",
                rollout.map { $0.mode == .off ? "all" : Rollout.percentText($0.parts) + " %" } ?? "-",
                tally.successes.grouped,
                tally.failed.grouped, RolloutTally.rate(tally.failed, of: tally.decided).map(PercentFigure.text) ?? "-",
                tally.notAdmitted.grouped, (mayGrow ? "yes: " : "no: ") + why,
            ])
        }
        return [table.text, failures].compactMap { $0 }.joined(separator: "\n\n")
    }

    /// The failures by reason, the most frequent first; nil without any.
    private var failures: String? {
        var table = TextTable([.left, .left, .right])
        table.add("app", "failed for", "times")
        for name in names {
            for (reason, count) in Self.sorted(tallies[name]?.failures ?? [:]) {
                table.add(label(of: name), reason.printable, count.grouped)
            }
        }
        return tallies.values.contains { $0.failed > 0 } ? table.text : nil
    }

    private static func sorted(_ counts: [String: Int]) -> [(String, Int)] {
        counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }.map { ($0.key, $0.value) }
    }
}
