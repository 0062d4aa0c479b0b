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
        parts.append(Self.section("before the record", explanation.state))
        if let object = explanation.object { parts.append(Self.section(object.kind.rawValue, object.fields)) }
        var table = TextTable()
        for check in explanation.checks {
            table.add("  " + check.name, Self.describe(check.outcome))
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

    private static func section(_ name: String, _ fields: [ReportField]) -> String {
        var table = TextTable()
        for field in fields { table.add("  " + field.name, field.value.description) }
        return name + "\n" + table.text
    }

    private static let absent = "the object does not have this part, or the app does not ask for it"

    private static func describe(_ outcome: TracedCheck.Outcome) -> String {
        switch outcome {
        case .passed: "passed"
        case .failed(let reason): "FAILED: \(reason)"
        case .reported(let reason): "reported, not refused: \(reason)"
        case .notReached: "not reached: an earlier check failed"
        case .notJudged(let cause): "not judged: \(cause ?? Self.absent)"
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
        let (result, reason, because): (String, String?, String?) =
            switch check.outcome {
            case .passed: ("passed", nil, nil)
            case .failed(let code): ("failed", code, nil)
            case .reported(let code): ("reported", code, nil)
            case .notReached: ("not-reached", nil, nil)
            case .notJudged(let cause): ("not-judged", nil, cause ?? absent)
            }
        return [
            "name": .text(check.name), "result": .text(result), "reason": reason.map { .text($0) },
            "because": because.map { .text($0) }, "values": check.comparisons.facts, "reading": check.reading?.facts,
        ]
    }
}

/// Presented beside expected, below a check; then the reading under which it would pass.
package enum CheckRows {
    package static func add(_ check: TracedCheck, to table: inout TextTable) {
        for comparison in check.comparisons {
            table.add("", "  \(comparison.name) presented: \(comparison.presented)")
            table.add("", "  \(comparison.name) expected:  \(comparison.expected)")
        }
        if let reading = check.reading { table.add("", "  passes if read as \(reading.name): \(reading.sentence)") }
    }
}
