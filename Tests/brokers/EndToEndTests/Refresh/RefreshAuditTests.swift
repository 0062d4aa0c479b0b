import Testing

@testable import ChaosKit

@Suite("The audit of the fraud metric")
struct RefreshAuditTests {
    /// A small run that is right in every way: key A has a metric by the first of its three receipts, and key B was forgotten
    /// while its receipt was exchanged.
    private static var sample: RefreshEvidence {
        var evidence = RefreshEvidence()
        var key = RefreshEvidence.Key()
        (key.isKnown, key.metric, key.held) = (true, RefreshEvidence.Metric(value: 3, createdAt: 100), .receipt([1]))
        (evidence.due, evidence.found) = (["A": key, "B": RefreshEvidence.Key()], ["A": key])
        evidence.receipts = ["A": [[1], [2], [3]], "B": [[4]]]
        (evidence.accepted, evidence.events) = (["1"], ["1"])
        evidence.calls = (1...4 as ClosedRange<UInt8>).map { byte in
            AppleDouble.Call(key: byte < 4 ? "A" : "B", receipt: [0], answer: [byte])
        }
        evidence.passed = ["A": 3, "B": 1]
        return evidence
    }

    /// What is wrong, and what the audit says of it.
    private static let breaks: [(words: String, change: @Sendable (inout RefreshEvidence) -> Void)] = [
        ("A is ", { $0.found["A"]?.metric = nil }), ("A is ", { $0.found["A"]?.metric?.value = 2 }),
        ("A is ", { $0.found["A"]?.metric?.createdAt = 99 }), ("A is ", { $0.found["A"]?.isKnown = false }),
        ("A is ", { $0.found["A"]?.held = .attestation }), ("A is ", { $0.found["A"]?.held = .receipt([3]) }),
        ("B is ", { $0.found["B"] = $0.found["A"] }), ("C is ", { $0.found["C"] = $0.found["A"] }),
        ("events: ", { $0.events = [] }), ("events: ", { $0.events = ["1", "1"] }),
        ("events: ", { $0.events = ["1", "3"] }),
        ("a receipt that nobody answered", { $0.calls[2].answer = [9] }),
        ("a receipt that nobody answered", { $0.calls[2].key = "B" }),
        ("3 exchanges have ended, and the lines have passed 4", { $0.passed["A"] = 4 }),
        ("0 exchanges have ended, and the lines have passed 1", { $0.receipts["B"] = nil }),
        ("has not passed", { $0.unread = ["line late has not passed 0/7"] }),
    ]

    @Test(arguments: breaks.indices)
    func `what is wrong is reported`(index: Int) {
        var evidence = Self.sample
        Self.breaks[index].change(&evidence)
        let findings = RefreshAudit.findings(evidence)
        #expect(findings.count == 1 && findings[0].contains(Self.breaks[index].words), "\(findings)")
    }

    @Test func `a correct run has no findings, nor has one with refused receipts, and such that failed too often`() {
        var evidence = Self.sample
        #expect(RefreshAudit.findings(evidence) == [])
        evidence.passed["A"] = 5
        for status in [404, 503, nil, 429, 401, 500] {
            #expect(RefreshAudit.findings(evidence).count == 1, "before \(status ?? 0)")
            evidence.calls.append(AppleDouble.Call(key: "A", receipt: [0], status: status, answer: nil))
        }
        #expect(RefreshAudit.findings(evidence) == [])
    }
}
