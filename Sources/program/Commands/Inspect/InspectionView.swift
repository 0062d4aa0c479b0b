internal import AppAttest
internal import CommandFrame
internal import JSON
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

    private let kind: String
    private let fields: [ReportField]
    private let checks: [TracedCheck]
    /// The gaps, by the check's name.
    private let gaps: [String: Gap]
    /// How the object was written, where that needs saying.
    var form: String?

    init(kind: String, fields: [ReportField], checks: [TracedCheck], gaps: [String: Gap]) {
        (self.kind, self.fields, self.checks, self.gaps) = (kind, fields, checks, gaps)
    }

    /// Fields, then checks, then the verdict on all that could be judged.
    var text: String {
        var fieldTable = TextTable()
        for field in fields { fieldTable.add("  " + field.name, field.value.description) }
        var checkTable = TextTable()
        for check in checks {
            checkTable.add("  " + check.name, describe(check))
            CheckRows.add(check, to: &checkTable)
        }
        let verdict = checks.firstFailure.map { "refused: \($0)" } ?? "no check that could be judged failed"
        let form = form.map { ", read as \($0)" } ?? ""
        return "\(kind)\(form)\n\nfields\n\(fieldTable.text)\n\nchecks\n\(checkTable.text)\n\n\(verdict)"
    }

    /// `{"kind", "readAs"?, "fields": {…}, "checks": [{"name", "result", "reason"?, "needs"?, "because"?, "values"?, "reading"?}],
    /// "reason"?}`.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.member("kind", kind)
        if let form { writer.member("readAs", form) }
        writer.key("fields")
        writer.beginObject()
        for field in fields {
            writer.key(named: field.name)
            if case .number(let number) = field.value { writer.value(number) } else { write(field.value, &writer) }
        }
        writer.endObject()
        writer.key("checks")
        writer.beginArray()
        for check in checks { write(check, &writer) }
        writer.endArray()
        if let reason = checks.firstFailure { writer.member("reason", reason) }
        writer.endObject()
        return writer.bytes
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

    private func describe(_ check: TracedCheck) -> String {
        switch (check.outcome, gap(check)) {
        case (_, .needs(let option)?): "not checked: needs \(option)"
        case (_, .because(let cause)?): "not checked: \(cause)"
        case (.failed(let reason), nil): "FAILED: \(reason)"
        case (.notReached, nil): "not reached: an earlier check failed"
        case (_, nil): "passed"
        }
    }

    private func write(_ value: ReportValue, _ writer: inout JSONWriter) { writer.string(value.description) }

    private func write(_ check: TracedCheck, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", check.name)
        switch (check.outcome, gap(check)) {
        case (_, .needs(let option)?):
            writer.member("result", "not-checked")
            writer.member("needs", option)
        case (_, .because(let cause)?):
            writer.member("result", "not-checked")
            writer.member("because", cause)
        case (.failed(let reason), nil):
            writer.member("result", "failed")
            writer.member("reason", reason)
        case (.notReached, nil): writer.member("result", "not-reached")
        case (_, nil): writer.member("result", "passed")
        }
        if !check.comparisons.isEmpty {
            writer.key("values")
            ExplanationJSON.write(check.comparisons, into: &writer)
        }
        ExplanationJSON.write(check.reading, into: &writer)
        writer.endObject()
    }
}
