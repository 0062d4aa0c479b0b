import Testing

@testable import ChaosKit

/// Two stock clients, whose requests and tokens are those of a run of the exchange; each test breaks one thing.
@Suite("The chaos checker's look at stock clients")
struct ChaosClientTests {
    private static let kinds: [ChaosFindings.Kind] = [.answerCrossed, .clientMisled, .clientWithout, .clientKeyDiffers]

    private static func counts(_ change: (inout ChaosEvidence) -> Void = { _ in }) -> Counts {
        var (sample, report) = (ExchangeSample(), ChaosClientReport())
        for number in 0..<2 {
            report.clients.append(.init(name: "g1/\(number)", keyID: "A=\(number)", tokenID: "token s\(number)"))
        }
        sample.evidence.clients = report
        change(&sample.evidence)
        return sample.counts.filter { kinds.contains($0.key) }
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
        #expect(Self.counts { $0.ledger?["A=0"] = nil } == [.clientKeyDiffers: 1])
        #expect(Self.counts { $0.clients?.clients[0].tokenID = "token s1" } == [.clientKeyDiffers: 1])
        #expect(Self.counts { $0.clients?.clients[0].tokenID = "token s2" } == [.clientKeyDiffers: 1])
        #expect(Self.counts { $0.outcomes[3].verdict = "refused" } == [.clientKeyDiffers: 1])
    }

    @Test func `a gateway that ends by itself, too, fails a run`() {
        var report = ChaosReport(settings: ChaosSettings())
        report.drainSeconds = 1
        #expect(report.passed)
        report.gatewayEnds = ["g1: ended by itself"]
        #expect(!report.passed)
    }
}
