import AppAttest
import BrokerKit
import Crypto
import Foundation
import Pipeline
import Streams
import TestKit
import Testing

@testable import ChaosKit

typealias Counts = [ChaosFindings.Kind: Int]

/// A small run of the exchange, right in every way; each test breaks one thing.
struct ExchangeSample {
    var evidence = ChaosEvidence(requests: [], outcomes: [])
    var answers: [ChaosAnswer] = []
    var events: [ChaosEvent] = []

    /// On each of two partitions: a challenge, an attestation that comes twice, an assertion, the same challenge once
    /// more, a token used for the first time, that request again, and a second use.
    init() {
        for partition in 0..<2 as Range<Int32> {
            let (key, first, second) = ("A=\(partition)", SHA256.hash([1]), SHA256.hash([2]))
            add(partition, "c", ChaosExchange(verb: .generateAppAttestChallenge, value: SHA256.hash([9])))
            let digest = SHA256.hash([8])
            let attestation = ChaosExchange(verb: .exchangeAppAttestAttestation, value: digest, challenge: first)
            add(partition, "t", attestation, key: key, counter: 0)
            add(partition, "t", attestation, key: key, counter: 0) { $0.isDuplicate = true }
            var assertion = ChaosExchange(verb: .exchangeAppAttestAssertion, value: SHA256.hash([7]), challenge: second)
            add(partition, "s", assertion, key: key, counter: 1)
            assertion.value = SHA256.hash([6])
            add(partition, "r", assertion, key: key) {
                $0.verdict = "refused"; $0.reason = "challenge-consumed"
            }
            let check = ChaosExchange(verb: .verifyAppCheckToken, value: SHA256.hash([5]), tokenID: "j\(partition)")
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
        let offset = evidence.requests.count { $0.partition == partition }
        let place = RecordPlace(partition: partition, offset: Int64(offset))
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

    var counts: Counts {
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

    /// What is right or wrong, and the checker's counts of it.
    private static let changes: [(what: String, change: @Sendable (inout ExchangeSample) -> Void, counts: Counts)] = [
        (
            "a challenge that was accepted twice with one key",
            { sample in
                sample.change(4) { ($0.verdict, $0.reason, $0.counter) = ("accepted", nil, 2) }
                sample.evidence.ledger?["A=0"] = 2
            },
            [.challengeTwice: 1, .answerLost: 1, .eventsDiffer: 2]
        ),
        (
            "a challenge that serves two keys",
            { sample in
                for partition in 0..<2 as Range<Int32> {
                    let place = RecordPlace(partition: partition, offset: 3)
                    sample.evidence.exchanges[place]?.challenge = SHA256.hash([77])
                }
            },
            [:]
        ),
        (
            "a redelivered attestation that is not marked as a duplicate",
            { $0.change(2) { $0.isDuplicate = false } },
            [.challengeTwice: 1, .eventsDiffer: 1]
        ),
        (
            "a token consumed by two requests",
            { $0.change(7) { $0.isAlreadyConsumed = false } },
            [.tokenUsedTwice: 1]
        ),
        (
            "a second use that is marked as a duplicate, of another request",
            { $0.change(7) { ($0.isAlreadyConsumed, $0.isDuplicate) = (false, true) } },
            [.tokenUsedTwice: 1]
        ),
        (
            "one id with two values, which is no redelivery",
            { $0.evidence.exchanges[RecordPlace(partition: 0, offset: 6)]?.value = SHA256.hash([55]) },
            [.tokenUsedTwice: 1]
        ),
        ("a forgotten use", { $0.change(6) { $0.isDuplicate = false } }, [.tokenUsedTwice: 1]),
        ("an extra answer", { $0.answers.append($0.answers[3]) }, [.answerUnasked: 1]),
        (
            "the answer of a refused request",
            { $0.answers.append(ChaosAnswer(written: RecordPlace(partition: 0, offset: 9), requestID: "r0")) },
            [.answerUnasked: 1]
        ),
        ("a duplicate's token with a fresh life", { $0.answers[2].token?.expiresAt = 401 }, [.tokenDiffers: 1]),
        ("a duplicate's token with another id", { $0.answers[2].token?.id = "another" }, [.tokenDiffers: 1]),
        ("a token id shared by two requests", { $0.answers[3].token?.id = "token t0" }, [.tokenIDTwice: 1]),
        ("a missing event", { $0.events.removeFirst() }, [.eventsDiffer: 1]),
        ("an event too many", { $0.events.append($0.events[0]) }, [.eventsDiffer: 1]),
        // One is missing, and one too many.
        ("a wrong event", { $0.events[0].name = "AppAttestFailure nonce" }, [.eventsDiffer: 2]),
    ]

    @Test(arguments: changes.indices)
    func `what is wrong is reported`(index: Int) {
        var sample = ExchangeSample()
        Self.changes[index].change(&sample)
        #expect(sample.counts == Self.changes[index].counts, "\(Self.changes[index].what)")
    }

    @Test(arguments: 0..<8)
    func `a missing answer is reported`(index: Int) {
        var sample = ExchangeSample()
        sample.answers.remove(at: index)
        #expect(sample.counts == [.answerLost: 1])
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
