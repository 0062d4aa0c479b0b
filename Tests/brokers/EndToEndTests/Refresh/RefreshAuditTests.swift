import ChaosKit
import Crypto
import Foundation
import JSON
import Testing

/// A small run of the fraud metric, right in every way; each test breaks one thing.
private struct RefreshSample {
    var evidence = RefreshEvidence()

    private static func step(_ request: RefreshEvidence.Request, _ id: String) -> RefreshEvidence.Step {
        var step = RefreshEvidence.Step(request, id: id)
        if case .receipt = request { step.metric = 3 }
        return step
    }

    /// Key A gets a metric; another answer of the same second is a duplicate, and one that was exchanged before is
    /// superseded. Key B is forgotten while its receipt is exchanged.
    init() {
        let moved = Self.step(.receipt([1], createdAt: 100), "m")
        var twin = Self.step(.receipt([2], createdAt: 100), "t")
        twin.isDuplicate = true
        var late = Self.step(.receipt([3], createdAt: 101), "l")
        (late.isAccepted, late.reason) = (false, "receipt:superseded")
        var shown = Self.step(.assertion, "s")
        shown.shown = 100
        evidence.steps["A"] = [Self.step(.attestation, "a"), moved, twin, late, shown]
        var gone = Self.step(.receipt([4], createdAt: 102), "g")
        (gone.isAccepted, gone.reason) = (false, "unknown-key")
        evidence.steps["B"] = [Self.step(.attestation, "b"), Self.step(.forget, "f"), gone]
        evidence.ledger["A"] = RefreshEvidence.Metric(3, createdAt: 100)
        evidence.topic = ["A": .receipt([1]), "B": .tombstone]
        evidence.events = ["m"]
        evidence.calls = (1...4 as ClosedRange<UInt8>).map { byte in
            RelayedCall(receipt: [0], token: "", status: 200, answer: Base64.encode([byte]))
        }
        (evidence.exchanges, evidence.mostFinalCalls) = (4, 4)
    }

    mutating func change(_ key: String, _ index: Int, _ change: (inout RefreshEvidence.Step) -> Void) {
        if var steps = evidence.steps[key] {
            change(&steps[index])
            evidence.steps[key] = steps
        }
    }

    var findings: [String] { RefreshAudit.findings(evidence) }
}

@Suite("The audit of the fraud metric")
struct RefreshAuditTests {
    @Test func `a correct run has no findings`() { #expect(RefreshSample().findings == []) }

    @Test func `a receipt that was accepted twice, or after a newer one, is reported`() {
        var sample = RefreshSample()
        sample.change("A", 2) { ($0.request, $0.isDuplicate) = (.receipt([1], createdAt: 100), false) }
        #expect(sample.findings.contains { $0.contains("accepted twice") })
        sample = RefreshSample()
        sample.change("A", 2) { ($0.request, $0.isDuplicate) = (.receipt([2], createdAt: 99), false) }
        #expect(sample.findings.contains { $0.contains("an older receipt was accepted") })
    }

    @Test func `a duplicate of another second is reported`() {
        var sample = RefreshSample()
        sample.change("A", 2) { $0.request = .receipt([2], createdAt: 101) }
        #expect(sample.findings.count == 1 && sample.findings[0].contains("is a duplicate"))
    }

    @Test func `a refusal for another reason, or before any metric, is reported`() {
        var sample = RefreshSample()
        sample.change("A", 3) { $0.reason = "receipt:metric" }
        #expect(sample.findings.count == 1 && sample.findings[0].contains("nothing supersedes"))
        sample.change("A", 3) { $0.metric = nil }
        #expect(sample.findings == [])
        sample.change("A", 3) { ($0.isAccepted, $0.reason) = (true, nil) }
        #expect(sample.findings.count == 1 && sample.findings[0].contains("without a metric"))
        sample = RefreshSample()
        sample.change("A", 1) { ($0.isAccepted, $0.reason) = (false, "receipt:superseded") }
        #expect(sample.findings.contains { $0.contains("nothing supersedes") })
    }

    @Test(arguments: [nil, RefreshEvidence.Metric(3, createdAt: 99), RefreshEvidence.Metric(2, createdAt: 100)])
    func `another metric in the ledger is reported`(metric: RefreshEvidence.Metric?) {
        var sample = RefreshSample()
        sample.evidence.ledger["A"] = .some(metric)
        #expect(sample.findings == ["A has another metric in the ledger than the newest accepted one"])
    }

    @Test(arguments: [RefreshEvidence.Held.attestation, .receipt([3]), .tombstone])
    func `another receipt in the topic is reported`(held: RefreshEvidence.Held) {
        var sample = RefreshSample()
        sample.evidence.topic["A"] = held
        #expect(sample.findings == ["A has another receipt in the topic than the newest accepted one"])
    }

    @Test func `what is left of a forgotten key is reported`() {
        var sample = RefreshSample()
        sample.evidence.topic["B"] = .attestation
        #expect(sample.findings.count == 1)
        sample = RefreshSample()
        sample.evidence.ledger.updateValue(nil, forKey: "B")
        #expect(sample.findings == ["B is in the ledger"])
        sample = RefreshSample()
        sample.change("B", 2) { ($0.isAccepted, $0.reason) = (true, nil) }
        #expect(sample.findings.count == 1 && sample.findings[0].contains("forgotten key"))
    }

    @Test(arguments: [[], ["m", "m"], ["m", "l"]])
    func `missing, doubled and foreign events are reported`(events: [String]) {
        var sample = RefreshSample()
        sample.evidence.events = events
        #expect(sample.findings.count == 1 && sample.findings[0].contains("events, not"))
    }

    @Test func `an assertion that shows another metric, or none, is reported`() {
        for shown in [nil, 99] as [Int64?] {
            var sample = RefreshSample()
            sample.change("A", 4) { $0.shown = shown }
            #expect(sample.findings.count == 1 && sample.findings[0].contains("shows another metric"))
        }
    }

    @Test func `a key without a metric is reported unless a call of it failed`() {
        var sample = RefreshSample()
        sample.evidence.steps["A"] = Array(sample.evidence.steps["A"]?.prefix(1) ?? [])
        (sample.evidence.ledger["A"], sample.evidence.topic["A"]) = (.some(nil), .attestation)
        sample.evidence.events = []
        #expect(sample.findings == ["A has no metric, and no call of it failed: no call"])
        sample.evidence.failures["A"] = 1
        #expect(sample.findings == [])
    }

    @Test func `invented receipts, too many calls and requests without a result are reported`() {
        var sample = RefreshSample()
        sample.evidence.calls[2].answer = Base64.encode([9])
        #expect(sample.findings == ["A has a receipt that nobody answered"])
        sample = RefreshSample()
        sample.evidence.mostFinalCalls = 3
        #expect(sample.findings == ["4 calls were answered, and 3 are the most"])
        sample.evidence.calls[0].status = 503
        #expect(sample.findings.contains("3 calls ended, and there are 4 exchanges"), "it is made again")
        #expect(!sample.findings.contains { $0.contains("are the most") })
        sample = RefreshSample()
        sample.evidence.strays = ["0/7 has no result"]
        #expect(sample.findings == ["0/7 has no result"])
    }

    @Test func `secrets are found in a log in each of their forms, and in no other text`() throws {
        let key = try SigningKey.generate(.p256)
        let receipt = SHA256.hash([1]).bytes + (0..<1_200).map { UInt8(truncatingIfNeeded: $0 / 7 ^ $0) }
        let token = "eyJhbGciOiJFUzI1NiIsImtpZCI6IksxIn0.eyJpc3MiOiJBQkNERTEyMzQ1In0.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbg"
        let call = RelayedCall(receipt: receipt, token: token, status: 200, answer: Base64.encode(receipt))
        let secrets = RefreshSecrets(key: key, calls: [call])
        func found(_ bytes: some Sequence<UInt8>) -> Set<String> {
            secrets.found(in: Data(Array("info: ".utf8) + bytes + Array(" end\n".utf8)))
        }
        #expect(found("nothing of the kind".utf8) == [])
        #expect(found(receipt) == ["a receipt"] && found(Base64.encode(receipt)) == ["a receipt"])
        #expect(found(receipt[300...]) == ["a receipt"] && found(Base64.encode(receipt)[400...]) == ["a receipt"])
        #expect(found(receipt.map { String(format: "%02x", $0) }.joined().utf8) == ["a receipt"])
        #expect(found(token.utf8) == ["a token"] && found(token.split(separator: ".")[2].utf8) == ["a token"])
        #expect(found(key.pem).contains("the key's file"))
        let der = try #require(
            Data(
                base64Encoded: String(decoding: key.pem, as: UTF8.self)
                    .split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
            )
        )
        #expect(found(der) == ["the key"])
    }
}
