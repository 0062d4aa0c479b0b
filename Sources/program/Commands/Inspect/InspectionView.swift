internal import AppAttest
internal import CommandFrame
internal import Reports
internal import Settings
internal import Study

/// A report as text and as JSON.
struct InspectionView {
    /// Why a check was not judged, or not in full.
    enum Gap: Equatable {
        /// The option that it needs.
        case needs(String)
        case because(String)
    }

    let kind: String
    let fields: [ReportField]
    let checks: [TracedCheck]
    /// The gaps, by the check's name.
    let gaps: [String: Gap]
    /// How the object was written, where that needs saying.
    var form: String?

    /// Fields, then checks, then the verdict on all that could be judged.
    var text: String {
        var table = TextTable()
        for check in checks {
            table.add("  " + check.name, result(of: check).text)
            CheckRows.add(check, to: &table)
        }
        let verdict = checks.firstFailure.map { "refused: \($0)" } ?? "no check that could be judged failed"
        let title = kind + (form.map { ", read as \($0)" } ?? "")
        return [title, CheckRows.section("fields", fields), "checks\n" + table.text, verdict].joined(separator: "\n\n")
    }

    /// `{"kind", "readAs"?, "fields": {…}, "checks": [{"name", "result", "reason"?, "needs"?, "because"?, "values"?, "reading"?}],
    /// "reason"?}`.
    var json: [UInt8] {
        let report: Facts = [
            "kind": .text(kind), "readAs": form.map { .text($0) }, "fields": fields.facts,
            "checks": .list(checks.map(facts)), "reason": checks.firstFailure.map { .text($0) },
        ]
        return report.json
    }

    private func facts(_ check: TracedCheck) -> Facts {
        let (result, detail, _) = result(of: check)
        let values = check.comparisons.isEmpty ? nil : check.comparisons.facts
        return .object([
            ("name", .text(check.name)), ("result", .text(result)), detail, ("values", values),
            ("reading", check.reading?.facts),
        ])
    }

    /// The reason why a check was not judged. One that passed without what it needs was not judged either.
    private func gap(_ check: TracedCheck) -> Gap? {
        switch check.outcome {
        case .passed: gaps[check.name]
        case .failed, .notReached: nil
        case .reported(let reason): .because("\(reason), which the policy on receipts only reports")
        case .notJudged(let cause): gaps[check.name] ?? .because(cause ?? "the object does not have this part")
        }
    }

    /// The name of a check's result, what JSON says beside it, and both as text.
    private func result(of check: TracedCheck) -> (name: String, detail: Facts.Member, text: String) {
        switch (check.outcome, gap(check)) {
        case (_, .needs(let option)?): ("not-checked", ("needs", .text(option)), "not checked: needs \(option)")
        case (_, .because(let cause)?): ("not-checked", ("because", .text(cause)), "not checked: \(cause)")
        case (.failed(let reason), nil): ("failed", ("reason", .text(reason)), "FAILED: \(reason)")
        case (.notReached, nil): ("not-reached", ("reason", nil), "not reached: an earlier check failed")
        case (_, nil): ("passed", ("reason", nil), "passed")
        }
    }
}
