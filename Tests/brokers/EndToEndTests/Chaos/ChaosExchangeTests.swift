import AppAttest
import BrokerKit
import ChaosKit
import Crypto
import Foundation
import Pipeline
import TestKit
import Testing

/// A small run of the exchange, right in every way; each test breaks one thing.
private struct ExchangeSample {
    var evidence = ChaosEvidence(requests: [], outcomes: [])
    var answers: [ChaosAnswer] = []
    var events: [ChaosEvent] = []

    /// On each of two partitions: a challenge, an attestation that comes twice, an assertion, the same challenge once
    /// more, a token used for the first time, that request again, and a second use.
    init() {
        for partition in 0..<2 as Range<Int32> {
            let (key, first, second) = ("A=\(partition)", SHA256.hash([1]), SHA256.hash([2]))
            add(partition, "c", ChaosExchange(.generateAppAttestChallenge, value: SHA256.hash([9])))
            let attestation = ChaosExchange(.exchangeAppAttestAttestation, value: SHA256.hash([8]), challenge: first)
            add(partition, "t", attestation, key: key, counter: 0)
            add(partition, "t", attestation, key: key, counter: 0) { $0.isDuplicate = true }
            var assertion = ChaosExchange(.exchangeAppAttestAssertion, value: SHA256.hash([7]), challenge: second)
            add(partition, "s", assertion, key: key, counter: 1)
            assertion.value = SHA256.hash([6])
            add(partition, "r", assertion, key: key) {
                $0.verdict = "refused"; $0.reason = "challenge-consumed"
            }
            let check = ChaosExchange(.verifyAppCheckToken, value: SHA256.hash([5]), tokenID: "j\(partition)")
            add(partition, "u", check) { $0.isAlreadyConsumed = false }
            add(partition, "u", check) { ($0.isAlreadyConsumed, $0.isDuplicate) = (false, true) }
            add(partition, "v", check) { $0.isAlreadyConsumed = true }
        }
        evidence.replayed = evidence.outcomes
        evidence.ledger = ["A=0": 1, "A=1": 1]
        evidence.topic = ChaosLedger()
        evidence.topic?.others = 4
    }

    private mutating func add(
        _ partition: Int32,
        _ id: String,
        _ exchange: ChaosExchange,
        key: String? = nil,
        counter: Int64? = nil,
        _ adjust: (inout ChaosOutcome) -> Void = { _ in }
    ) {
        let place = ChaosPlace(partition, Int64(evidence.requests.count { $0.partition == partition }))
        var outcome = ChaosOutcome(source: place, written: place, verdict: "accepted")
        (outcome.keyID, outcome.counter, outcome.requestID) = (key, counter, "\(id)\(partition)")
        outcome.timestamp = 100_000
        adjust(&outcome)
        evidence.requests.append(place)
        evidence.exchanges[place] = exchange
        evidence.outcomes.append(outcome)
        guard let requestID = outcome.requestID else { return }
        if outcome.verdict == "accepted", exchange.verb != .verifyAppCheckToken {
            let token = ChaosAnswer.Token(id: "token \(requestID)", expiresAt: 400)
            let isChallenge = exchange.verb == .generateAppAttestChallenge
            answers.append(ChaosAnswer(written: place, requestID: requestID, token: isChallenge ? nil : token))
        }
        guard key != nil, !outcome.isDuplicate else { return }
        let name = outcome.reason.map { "AppAttestFailure \($0)" } ?? "AppAttestSuccess"
        events.append(ChaosEvent(partition: partition, requestID: requestID, name: name))
    }

    /// Changes the outcome of both the run and its replay.
    mutating func change(_ index: Int, _ change: (inout ChaosOutcome) -> Void) {
        change(&evidence.outcomes[index])
        evidence.replayed = evidence.outcomes
    }

    var counts: [ChaosFindings.Kind: Int] {
        var evidence = evidence
        (evidence.answers, evidence.events) = (answers, events)
        return ChaosChecker.check(evidence).counts
    }
}

@Suite("The chaos checker on the exchange")
struct ChaosExchangeTests {
    @Test func `a correct run has no findings`() {
        #expect(ExchangeSample().counts == [:])
        let findings = ChaosChecker.check(ExchangeSample().evidence)
        #expect(
            Set(findings.unchecked.keys) == [.answerLost, .answerUnasked, .tokenDiffers, .tokenIDTwice, .eventsDiffer]
        )
    }

    @Test func `a challenge that was accepted twice with one key is reported`() {
        var sample = ExchangeSample()
        sample.change(4) { ($0.verdict, $0.reason, $0.counter) = ("accepted", nil, 2) }
        sample.evidence.ledger?["A=0"] = 2
        #expect(sample.counts == [.challengeTwice: 1, .answerLost: 1, .eventsDiffer: 2])
    }

    @Test func `a challenge may serve two keys`() {
        var sample = ExchangeSample()
        sample.evidence.exchanges[ChaosPlace(0, 3)]?.challenge = SHA256.hash([77])
        sample.evidence.exchanges[ChaosPlace(1, 3)]?.challenge = SHA256.hash([77])
        #expect(sample.counts == [:])
    }

    @Test func `a redelivered attestation that is not marked as a duplicate is reported`() {
        var sample = ExchangeSample()
        sample.change(2) { $0.isDuplicate = false }
        #expect(sample.counts == [.challengeTwice: 1, .eventsDiffer: 1])
    }

    @Test func `a token consumed by two requests is reported`() {
        var sample = ExchangeSample()
        sample.change(7) { $0.isAlreadyConsumed = false }
        #expect(sample.counts == [.tokenUsedTwice: 1])
        // Even marked as a duplicate, it repeats another request.
        sample.change(7) { $0.isDuplicate = true }
        #expect(sample.counts == [.tokenUsedTwice: 1])
    }

    @Test func `one id with two values is not a redelivery`() {
        var sample = ExchangeSample()
        sample.evidence.exchanges[ChaosPlace(0, 6)]?.value = SHA256.hash([55])
        #expect(sample.counts == [.tokenUsedTwice: 1])
    }

    @Test func `a forgotten use is reported`() {
        var sample = ExchangeSample()
        sample.change(6) { $0.isDuplicate = false }
        #expect(sample.counts == [.tokenUsedTwice: 1])
    }

    @Test(arguments: 0..<8)
    func `a missing answer is reported`(index: Int) {
        var sample = ExchangeSample()
        sample.answers.remove(at: index)
        #expect(sample.counts == [.answerLost: 1])
    }

    @Test func `an extra answer is reported`() {
        var sample = ExchangeSample()
        sample.answers.append(sample.answers[3])
        #expect(sample.counts == [.answerUnasked: 1])
        sample = ExchangeSample()
        sample.answers.append(ChaosAnswer(written: ChaosPlace(0, 9), requestID: "r0"))
        #expect(sample.counts == [.answerUnasked: 1], "of a refused request")
    }

    @Test func `a duplicate's token with a fresh life or another id is reported`() {
        var sample = ExchangeSample()
        sample.answers[2].token?.expiresAt = 401
        #expect(sample.counts == [.tokenDiffers: 1])
        sample = ExchangeSample()
        sample.answers[2].token?.id = "another"
        #expect(sample.counts == [.tokenDiffers: 1])
    }

    @Test func `a token id shared by two requests is reported`() {
        var sample = ExchangeSample()
        sample.answers[3].token?.id = "token t0"
        #expect(sample.counts == [.tokenIDTwice: 1])
    }

    @Test func `missing, extra or wrong events are reported`() {
        var sample = ExchangeSample()
        sample.events.removeFirst()
        #expect(sample.counts == [.eventsDiffer: 1])
        sample = ExchangeSample()
        sample.events.append(sample.events[0])
        #expect(sample.counts == [.eventsDiffer: 1])
        sample = ExchangeSample()
        sample.events[0].name = "AppAttestFailure nonce"
        #expect(sample.counts == [.eventsDiffer: 2], "one missing, one too many")
    }

    @Test func `a ledger that keeps expired entries is reported`() {
        var sample = ExchangeSample()
        let alive = ChaosLedger.Consumed(partition: 0, expiresAt: 100_000 - ChaosLedger.forgettingMilliseconds + 1)
        sample.evidence.topic?.consumed = Array(repeating: alive, count: 1000)
        #expect(sample.counts == [:])
        let over = ChaosLedger.Consumed(partition: 0, expiresAt: 100_000 - ChaosLedger.forgettingMilliseconds)
        sample.evidence.topic?.consumed = [alive, over]
        #expect(sample.counts == [.ledgerTooLarge: 1])
        sample.evidence.topic?.consumed = []
        sample.evidence.topic?.others = 8
        #expect(sample.counts == [:])
        sample.evidence.topic?.others = 9
        #expect(sample.counts == [.ledgerTooLarge: 1])
    }
}

@Suite("The exchange's part of chaos traffic")
struct ChaosExchangeReadingTests {
    @Test func `the ledger topic counts by its last values`() throws {
        var reader = ChaosLedger.Reader()
        let consumed = ConsumedID(expiresAt: EvaluationTime(milliseconds: 5), request: SHA256.hash([1]))
        let changes: [LedgerChange] = [
            .token(SHA256.hash([1]), consumed), .challenge(SHA256.hash([1]), consumed),
            .token(SHA256.hash([1]), consumed),
            .challengeForgotten(SHA256.hash([1])), .mark(PartitionMark(streamTime: EvaluationTime(milliseconds: 9))),
        ]
        for (offset, change) in changes.enumerated() {
            let (key, value) = LedgerCodec.encode(change)
            reader.read(RequestRecords.record(value, key: key, offset: Int64(offset)))
        }
        let ledger = try reader.ledger()
        #expect((ledger.records, ledger.size, ledger.tombstones, ledger.others) == (5, 2, 1, 1))
        #expect(ledger.consumed == [ChaosLedger.Consumed(partition: 0, expiresAt: 5)])
        #expect(ledger.overdue(at: [0: 10_005]) == 1)
        #expect(ledger.overdue(at: [0: 10_004]) == 0)
    }

    @Test func `the challenge that a request consumes is read from the request`() throws {
        let text =
            "{\"path\":\"/v1/projects/p/apps/1:2:ios:3:exchangeAppAttestAssertion\",\"body\":{\"challenge\":\"AQI=\"}}"
        let exchange = try #require(ChaosExchange(request: Array(text.utf8)))
        #expect(exchange.verb == .exchangeAppAttestAssertion)
        #expect(exchange.challenge == SHA256.hash([1, 2]))
        #expect(exchange.value == SHA256.hash(Array(text.utf8)))
        let plain = text.replacingOccurrences(of: "exchangeAppAttestAssertion", with: "verifyAssertion")
        #expect(ChaosExchange(request: Array(plain.utf8)) == nil)
        #expect(ChaosExchange(request: nil) == nil)
    }
}
