/// Checks what the fraud metric promises: each receipt that Apple's double answered and that was acknowledged is accepted
/// once, or superseded by a newer one; ledger, receipts topic and events have what was accepted, and forgotten keys have
/// nothing.
package enum RefreshAudit {
    /// - Returns: what is wrong, a line each.
    package static func findings(_ evidence: RefreshEvidence) -> [String] {
        var findings = evidence.strays
        var accepted: [String] = []
        for (key, steps) in evidence.steps.sorted(by: { $0.key < $1.key }) {
            var walk = KeyWalk(key)
            for step in steps { walk.take(step) }
            accepted += walk.accepted
            findings += walk.findings + outcome(of: walk, in: evidence)
        }
        for key in evidence.ledger.keys where evidence.steps[key] == nil { findings.append("\(key) was never sent") }
        findings += events(evidence.events, accepted)
        return findings + calls(evidence)
    }

    private static func outcome(of walk: KeyWalk, in evidence: RefreshEvidence) -> [String] {
        var findings: [String] = []
        let key = walk.key
        let held = evidence.topic[key] ?? .tombstone
        if walk.isKnown != (evidence.ledger[key] != nil) {
            findings.append("\(key) is \(walk.isKnown ? "not " : "")in the ledger")
        }
        if (evidence.ledger[key] ?? nil) != walk.metric {
            findings.append("\(key) has another metric in the ledger than the newest accepted one")
        }
        if held != walk.held { findings.append("\(key) has another receipt in the topic than the newest accepted one") }
        if walk.isKnown, walk.metric == nil, evidence.failures[key] == nil {
            let endings = (evidence.endings[key] ?? ["no call"]).joined(separator: ", ")
            findings.append("\(key) has no metric, and no call of it failed: \(endings)")
        }
        return findings
    }

    private static func events(_ events: [String], _ accepted: [String]) -> [String] {
        let (found, due) = (counts(events), counts(accepted))
        return Set(found.keys).union(due.keys).sorted().compactMap { id in
            let (one, other) = (found[id] ?? 0, due[id] ?? 0)
            return one == other ? nil : "\(id) has \(one) events, not \(other)"
        }
    }

    private static func counts(_ names: [String]) -> [String: Int] {
        names.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    private static func calls(_ evidence: RefreshEvidence) -> [String] {
        var findings: [String] = []
        let answered = Set(evidence.calls.compactMap(\.answeredReceipt))
        for (key, steps) in evidence.steps.sorted(by: { $0.key < $1.key }) {
            for case .receipt(let receipt, _) in steps.map(\.request) where !answered.contains(receipt) {
                findings.append("\(key) has a receipt that nobody answered")
            }
        }
        let finals = evidence.calls.count(where: \.isFinal)
        if finals > evidence.mostFinalCalls {
            findings.append("\(finals) calls were answered, and \(evidence.mostFinalCalls) are the most")
        }
        let ended = finals + evidence.calls.count { $0.status == nil }
        if ended < evidence.exchanges {
            findings.append("\(ended) calls ended, and there are \(evidence.exchanges) exchanges")
        }
        return findings
    }
}

/// A key's requests in their order, and what they must have led to.
private struct KeyWalk {
    let key: String
    private(set) var isKnown = false
    private(set) var metric: RefreshEvidence.Metric?
    private(set) var held = RefreshEvidence.Held.tombstone
    /// Request IDs of receipts that moved the metric.
    private(set) var accepted: [String] = []
    private(set) var findings: [String] = []
    private var moved: Set<[UInt8]> = []

    init(_ key: String) { self.key = key }

    mutating func take(_ step: RefreshEvidence.Step) {
        switch step.request {
        case .attestation:
            guard step.isAccepted else { return note(step, "an attestation was refused") }
            if !step.isDuplicate { (isKnown, held) = (true, .attestation) }
        case .assertion:
            if step.isAccepted, step.shown != metric?.createdAt { note(step, "an assertion shows another metric") }
            if !step.isAccepted, isKnown { note(step, "an assertion was refused") }
        case .forget:
            guard step.isAccepted else { return note(step, "a command was refused") }
            (isKnown, metric, held) = (false, nil, .tombstone)
        case .receipt(let receipt, let createdAt): take(step, receipt, createdAt)
        }
    }

    private mutating func take(_ step: RefreshEvidence.Step, _ receipt: [UInt8], _ createdAt: Int64) {
        guard isKnown else {
            if step.reason != "unknown-key" { note(step, "the receipt of a forgotten key was not refused") }
            held = .tombstone
            return
        }
        guard let value = step.metric else {
            if step.reason != "receipt:metric" { note(step, "a receipt without a metric was not refused") }
            return
        }
        if step.isAccepted, step.isDuplicate {
            if createdAt != metric?.createdAt { note(step, "another receipt than the kept one is a duplicate") }
        } else if step.isAccepted {
            if createdAt <= metric?.createdAt ?? .min { note(step, "an older receipt was accepted") }
            if !moved.insert(receipt).inserted { note(step, "a receipt was accepted twice") }
            metric = RefreshEvidence.Metric(value, createdAt: createdAt)
            held = .receipt(receipt)
            accepted.append(step.requestID)
        } else if step.reason != "receipt:superseded" || metric == nil {
            note(step, "a receipt was refused that nothing supersedes")
        }
    }

    private mutating func note(_ step: RefreshEvidence.Step, _ what: String) {
        findings.append("\(key), \(step.requestID): \(what) (\(step.reason ?? "accepted"))")
    }
}
