internal import AppAttest
internal import JSON
internal import Settings

/// A report as text and as JSON.
struct InspectionView {
    /// Why a check was not judged, or not in full.
    enum Gap: Equatable {
        /// The option that it needs.
        case needs(String)
        case because(String)
    }

    enum Outcome {
        case passed
        /// The check failed, with the reason's code.
        case failed(String)
        /// An earlier check failed.
        case notReached
        case notChecked(Gap)
    }

    struct Check {
        let name: String
        let outcome: Outcome
        var comparisons: [Comparison] = []
    }

    private let kind: String
    private let fields: [ReportField]
    private let checks: [Check]
    /// How the object was written, where that needs saying.
    var form: String?

    init(kind: String, fields: [ReportField], checks: [Check]) {
        self.kind = kind
        self.fields = fields
        self.checks = checks
    }

    /// - Parameters:
    ///   - gaps: by a check's name.
    ///   - notes: fields in addition to the object's own.
    init(report: ObjectReport, gaps: [String: Gap], notes: [ReportField] = []) {
        let checks = report.checks.map { check in
            Check(
                name: check.name,
                outcome: Self.outcome(check, gap: gaps[check.name]),
                comparisons: check.outcome == .notReached ? [] : check.comparisons
            )
        }
        self.init(kind: report.kind.rawValue, fields: report.fields + notes, checks: checks)
    }

    /// The reason of the first failed check; nil if all that could be judged passed.
    private var reason: String? {
        for check in checks {
            if case .failed(let reason) = check.outcome { return reason }
        }
        return nil
    }

    /// Fields, then checks, then the verdict on all that could be judged.
    var text: String {
        var fieldTable = TextTable()
        for field in fields { fieldTable.add("  " + field.name, field.value.description) }
        var checkTable = TextTable()
        for check in checks {
            checkTable.add("  " + check.name, Self.describe(check.outcome))
            CheckRows.add(check.comparisons, to: &checkTable)
        }
        let verdict = reason.map { "refused: \($0)" } ?? "no check that could be judged failed"
        let form = form.map { ", read as \($0)" } ?? ""
        return "\(kind)\(form)\n\nfields\n\(fieldTable.text)\n\nchecks\n\(checkTable.text)\n\n\(verdict)"
    }

    /// `{"kind", "readAs"?, "fields": {…}, "checks": [{"name", "result", "reason"?, "needs"?, "because"?, "values"?}], "reason"?}`.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.key("kind")
        writer.string(kind)
        if let form {
            writer.key("readAs")
            writer.string(form)
        }
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
        if let reason {
            writer.key("reason")
            writer.string(reason)
        }
        writer.endObject()
        return writer.bytes
    }

    /// A check that passed without anything to compare with was not judged.
    private static func outcome(_ check: ReportCheck, gap: Gap?) -> Outcome {
        switch check.outcome {
        case .passed: gap.map { .notChecked($0) } ?? .passed
        case .failed(let refusal): .failed(refusal.code)
        case .reported(let refusal): .notChecked(.because("\(refusal.code), which the policy on receipts only reports"))
        case .notReached: .notReached
        case .notJudged: .notChecked(gap ?? .because("the object does not have this part"))
        }
    }

    private static func describe(_ outcome: Outcome) -> String {
        switch outcome {
        case .passed: "passed"
        case .failed(let reason): "FAILED: \(reason)"
        case .notReached: "not reached: an earlier check failed"
        case .notChecked(.needs(let option)): "not checked: needs \(option)"
        case .notChecked(.because(let reason)): "not checked: \(reason)"
        }
    }

    private func write(_ value: ReportValue, _ writer: inout JSONWriter) { writer.string(value.description) }

    private func write(_ check: Check, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("name")
        writer.string(check.name)
        writer.key("result")
        switch check.outcome {
        case .passed: writer.string("passed")
        case .failed(let reason):
            writer.string("failed")
            writer.key("reason")
            writer.string(reason)
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
        if !check.comparisons.isEmpty {
            writer.key("values")
            ExplanationJSON.write(check.comparisons, into: &writer)
        }
        writer.endObject()
    }
}
