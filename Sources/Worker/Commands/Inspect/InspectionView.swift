internal import AppAttest
internal import JSON

/// A report as people and programs read it.
struct InspectionView {
    /// Why a check was not judged, or not in full.
    enum Gap: Equatable {
        /// The option that it needs.
        case needs(String)
        case because(String)
    }

    private let report: ObjectReport
    /// By a check's name.
    private let gaps: [String: Gap]

    init(report: ObjectReport, gaps: [String: Gap]) {
        self.report = report
        self.gaps = gaps
    }

    /// Fields, then checks, then the verdict on all that could be judged.
    var text: String {
        var fields = TextTable()
        for field in report.fields { fields.add("  " + field.name, field.value.description.printable) }
        var checks = TextTable()
        for check in report.checks { checks.add("  " + check.name, Self.describe(outcome(check))) }
        let verdict = report.refusal.map { "refused: \($0.code)" } ?? "nothing that could be judged speaks against it"
        return "\(report.kind.rawValue)\n\nfields\n\(fields.text)\n\nchecks\n\(checks.text)\n\n\(verdict)"
    }

    /// `{"kind", "fields": {…}, "checks": [{"name", "result", "reason"?, "needs"?, "because"?}], "reason"?}`.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.key("kind")
        writer.string(report.kind.rawValue)
        writer.key("fields")
        writer.beginObject()
        for field in report.fields {
            writer.key(named: field.name)
            if case .number(let number) = field.value { writer.value(number) } else { write(field.value, &writer) }
        }
        writer.endObject()
        writer.key("checks")
        writer.beginArray()
        for check in report.checks { write(check, &writer) }
        writer.endArray()
        if let refusal = report.refusal {
            writer.key("reason")
            writer.string(refusal.code)
        }
        writer.endObject()
        return writer.bytes
    }

    private enum Outcome {
        case passed, failed(Refusal), notReached
        case notChecked(Gap)
    }

    /// A check that passed without anything to compare with has not been judged.
    private func outcome(_ check: ReportCheck) -> Outcome {
        let gap = gaps[check.name]
        switch check.outcome {
        case .passed: return gap.map { .notChecked($0) } ?? .passed
        case .failed(let refusal): return .failed(refusal)
        case .notReached: return .notReached
        case .notJudged: return .notChecked(gap ?? .because("the object has no such part"))
        }
    }

    private static func describe(_ outcome: Outcome) -> String {
        switch outcome {
        case .passed: "passed"
        case .failed(let refusal): "FAILED: \(refusal.code)"
        case .notReached: "not reached: an earlier check failed"
        case .notChecked(.needs(let option)): "not checked: needs \(option)"
        case .notChecked(.because(let reason)): "not checked: \(reason)"
        }
    }

    private func write(_ value: ReportValue, _ writer: inout JSONWriter) { writer.string(value.description) }

    private func write(_ check: ReportCheck, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("name")
        writer.string(check.name)
        writer.key("result")
        switch outcome(check) {
        case .passed: writer.string("passed")
        case .failed(let refusal):
            writer.string("failed")
            writer.key("reason")
            writer.string(refusal.code)
        case .notReached: writer.string("not-reached")
        case .notChecked(.needs(let option)):
            writer.string("not-checked")
            writer.key("needs")
            writer.string(option)
        case .notChecked(.because(let reason)):
            writer.string("not-checked")
            writer.key("because")
            writer.string(reason)
        }
        writer.endObject()
    }
}
