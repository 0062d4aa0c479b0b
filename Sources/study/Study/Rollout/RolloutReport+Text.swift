internal import AppCheck
internal import CommandFrame
internal import Reports
internal import Settings

/// The state of each rollout as a terminal shows it.
extension RolloutReport: EventsReport {
    package var text: String {
        var table = TextTable([.left, .left, .right, .right, .right, .right, .right])
        table.add("app", "mode", "share", "successes", "failures", "failed", "not admitted", "may grow")
        for name in names {
            let tally = tallies[name] ?? RolloutTally()
            let rollout = rollout(of: name)
            let (mayGrow, why) = judgement(of: name)
            table.add([
                registry.label(of: name), rollout?.mode.rawValue ?? "-",
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
            for (reason, count) in tallies[name]?.failures.ranked ?? [] {
                table.add(registry.label(of: name), reason.printable, count.grouped)
            }
        }
        return tallies.values.contains { $0.failed > 0 } ? table.text : nil
    }
}
