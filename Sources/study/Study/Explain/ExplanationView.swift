package import AppAttest
internal import AppCheck
package import CommandFrame
package import Pipeline
internal import Reports
internal import Settings
internal import Streams

/// One record explained, as text and as JSON.
package struct ExplanationView {
    private let explanation: Explanation
    private let others: [String]

    /// - Parameter others: places of later records with the same request id.
    package init(_ explanation: Explanation, others: [String]) {
        self.explanation = explanation
        self.others = others
    }

    package var text: String {
        var parts = [cause, heading].compactMap(\.self)
        parts.append(CheckRows.section("before the record", explanation.state))
        if let object = explanation.object { parts.append(CheckRows.section(object.kind.rawValue, object.fields)) }
        var table = TextTable()
        for check in explanation.checks {
            table.add("  " + check.name, Self.result(check.outcome).text)
            if case .notJudged = check.outcome { continue }
            CheckRows.add(check, to: &table)
        }
        parts.append("checks\n" + table.text)
        parts.append(verdict)
        if let reason = explanation.reason, let entry = ReasonEntry.find(reason) {
            parts.append(ReasonView.whole(entry))
        }
        return parts.joined(separator: "\n\n")
    }

    /// The lines to be looked at first.
    private var cause: String? {
        explanation.attestation.map { attestation in
            "The key is unknown since its attestation was refused: \(attestation.reason.code), record "
                + "\(attestation.place.partition)/\(attestation.place.offset). Look at that record first."
        }
    }

    private var heading: String {
        let record = explanation.record.record
        var table = TextTable()
        table.add("record", "\(record.topic)/\(record.partition)/\(record.offset)")
        table.add("request id", explanation.record.requestID.shown)
        table.add("app", explanation.appLabel ?? "none that is configured")
        table.add("verb", explanation.verb?.rawValue ?? "none that is served")
        if let keyID = explanation.keyID { table.add("key ID", keyID.base64) }
        if !others.isEmpty { table.add("same id later", others.joined(separator: ", ")) }
        return table.text
    }

    private static let absent = "the object does not have this part, or the app does not ask for it"

    /// The name of a check's result, what JSON says beside it, and both as text.
    private static func result(_ outcome: TracedCheck.Outcome) -> (name: String, detail: Facts.Member, text: String) {
        switch outcome {
        case .passed: ("passed", ("reason", nil), "passed")
        case .failed(let reason): ("failed", ("reason", .text(reason)), "FAILED: \(reason)")
        case .reported(let reason): ("reported", ("reason", .text(reason)), "reported, not refused: \(reason)")
        case .notReached: ("not-reached", ("reason", nil), "not reached: an earlier check failed")
        case .notJudged(let cause):
            ("not-judged", ("because", .text(cause ?? absent)), "not judged: \(cause ?? absent)")
        }
    }

    private var verdict: String {
        let reason = explanation.reason.map { ": \($0)" } ?? (explanation.isDuplicate ? ": answered before" : "")
        return explanation.verdict + reason
    }

    /// `{…, "state", "kind", "fields", "checks"}`.
    package var json: [UInt8] {
        let rest: [Facts.Member] = [
            ("state", explanation.state.facts), ("kind", (explanation.object?.kind.rawValue).map { .text($0) }),
            ("fields", explanation.object?.fields.facts), ("checks", .list(explanation.checks.map(Self.facts))),
        ]
        return Facts.object(explanation.request + rest).json
    }

    private static func facts(_ check: TracedCheck) -> Facts {
        let (result, detail, _) = result(check.outcome)
        return .object([
            ("name", .text(check.name)), ("result", .text(result)), detail, ("values", check.comparisons.facts),
            ("reading", check.reading?.facts),
        ])
    }
}

/// Fields and checks as text.
package enum CheckRows {
    package static func section(_ name: String, _ fields: [ReportField]) -> String {
        var table = TextTable()
        for field in fields { table.add("  " + field.name, field.value.description) }
        return name + "\n" + table.text
    }

    /// Adds what was presented beside what is expected; then the reading under which the check would pass.
    package static func add(_ check: TracedCheck, to table: inout TextTable) {
        for comparison in check.comparisons {
            table.add("", "  \(comparison.name) presented: \(comparison.presented)")
            table.add("", "  \(comparison.name) expected:  \(comparison.expected)")
        }
        if let reading = check.reading { table.add("", "  passes if read as \(reading.name): \(reading.sentence)") }
    }
}
