import BrokerKit
import ChaosKit
import Testing

/// Two stock clients, their requests and their tokens, right in every way; each test breaks one thing.
@Suite("The chaos checker's look at stock clients")
struct ChaosClientTests {
    private static let kinds: [ChaosFindings.Kind] = [.answerCrossed, .clientMisled, .clientWithout, .clientKeyDiffers]

    private static let evidence: ChaosEvidence = {
        var (outcomes, answers, report) = ([ChaosOutcome](), [ChaosAnswer](), ChaosClientReport())
        for (offset, key) in ["A=", "B="].enumerated() {
            let place = ChaosPlace(Int32(offset), 7)
            var outcome = ChaosOutcome(source: place, written: place, verdict: "accepted")
            (outcome.keyID, outcome.requestID) = (key, "request of \(key)")
            outcomes.append(outcome)
            let token = ChaosAnswer.Token(id: "token of \(key)", expiresAt: nil)
            answers.append(ChaosAnswer(written: place, requestID: "request of \(key)", token: token))
            report.clients.append(.init(name: "g1/\(offset)", keyID: key, tokenID: token.id))
        }
        var evidence = ChaosEvidence(
            requests: outcomes.map(\.source),
            outcomes: outcomes,
            replayed: outcomes,
            ledger: ["A=": 0, "B=": 0]
        )
        (evidence.answers, evidence.clients) = (answers, report)
        return evidence
    }()

    private static func counts(_ change: (inout ChaosEvidence) -> Void = { _ in }) -> [ChaosFindings.Kind: Int] {
        var evidence = evidence
        change(&evidence)
        return ChaosChecker.check(evidence).counts.filter { kinds.contains($0.key) }
    }

    @Test func `clients with keys and tokens of their own give no finding`() { #expect(Self.counts() == [:]) }

    @Test func `crossed and unusable answers are reported`() {
        #expect(Self.counts { $0.clients?.crossed = ["g1: a", "g1: b"] } == [.answerCrossed: 2])
        #expect(Self.counts { $0.clients?.misled = ["g1: a"] } == [.clientMisled: 1])
    }

    @Test func `a client without key or token is reported`() {
        #expect(Self.counts { $0.clients?.clients[0].keyID = nil } == [.clientWithout: 1])
        #expect(Self.counts { $0.clients?.clients[1].tokenID = nil } == [.clientWithout: 1])
    }

    @Test func `a key that the ledger lacks, and a token of another key or of no request, are reported`() {
        #expect(Self.counts { $0.ledger?["A="] = nil } == [.clientKeyDiffers: 1])
        #expect(Self.counts { $0.clients?.clients[0].tokenID = "token of B=" } == [.clientKeyDiffers: 1])
        #expect(Self.counts { $0.clients?.clients[0].tokenID = "token of C=" } == [.clientKeyDiffers: 1])
        #expect(Self.counts { $0.outcomes[0].verdict = "refused" } == [.clientKeyDiffers: 1])
    }

    @Test func `a gateway that ends by itself, too, fails a run`() {
        var report = ChaosReport(settings: ChaosSettings())
        report.drainSeconds = 1
        #expect(report.passed)
        report.gatewayEnds = ["g1: ended by itself"]
        #expect(!report.passed)
    }
}
