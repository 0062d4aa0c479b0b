import BrokerKit
import Crypto
import Streams
import Testing

@testable import ChaosKit

/// A small run's outcomes, right in every way; each test breaks one thing.
private struct Sample {
    static let keys = ["A=", "B=", "C="]

    var requests: [RecordPlace] = []
    var outcomes: [ChaosOutcome] = []
    var replayed: [ChaosOutcome]
    var ledger: [String: Int64] = [:]
    var spoilt: Set<RecordPlace> = []

    /// On each of two partitions: three keys attest, then assert four times; then a dead letter and a duplicate.
    init() {
        for partition in 0..<2 as Range<Int32> {
            var offset: Int64 = 0
            func next() -> RecordPlace {
                defer { offset += 1 }
                return RecordPlace(partition: partition, offset: offset)
            }
            for counter in 0...4 as ClosedRange<Int64> {
                for key in Self.keys {
                    let keyID = "\(key)\(partition)"
                    let place = next()
                    requests.append(place)
                    outcomes.append(Self.accepted(place, keyID, counter))
                    ledger[keyID] = counter
                }
            }
            let last = next()
            requests.append(last)
            var again = Self.accepted(last, "C=\(partition)", 4)
            again.isDuplicate = true
            outcomes.append(again)
        }
        for partition in 0..<2 as Range<Int32> {
            let place = RecordPlace(partition: partition, offset: 16)
            requests.append(place)
            var letter = ChaosOutcome(source: place, written: place, verdict: "dead letter")
            letter.isDeadLetter = true
            letter.reason = "not-json"
            outcomes.append(letter)
        }
        replayed = outcomes
    }

    private static func accepted(_ place: RecordPlace, _ keyID: String, _ counter: Int64) -> ChaosOutcome {
        var outcome = ChaosOutcome(source: place, written: place, verdict: "accepted")
        outcome.keyID = keyID
        outcome.counter = counter
        outcome.digest = SHA256.hash(Array("\(place) \(keyID) \(counter)".utf8))
        return outcome
    }

    mutating func refuse(_ index: Int, for reason: String) {
        (outcomes[index].verdict, outcomes[index].reason) = ("refused", reason)
    }

    /// The checker's counts; kinds without a finding are left out.
    var counts: Counts {
        var evidence = ChaosEvidence(requests: requests, outcomes: outcomes, replayed: replayed, ledger: ledger)
        evidence.spoilt = spoilt
        return ChaosChecker.check(evidence).counts
    }
}

@Suite("The chaos checker")
struct ChaosCheckerTests {
    @Test func `a correct run has no findings`() {
        let sample = Sample()
        #expect(sample.counts == [:])
        let evidence = ChaosEvidence(requests: sample.requests, outcomes: sample.outcomes)
        let findings = ChaosChecker.check(evidence)
        #expect(findings.isClean)
        let unread: Set<ChaosFindings.Kind> = [
            .answerLost, .answerUnasked, .tokenDiffers, .tokenIDTwice, .eventsDiffer, .ledgerTooLarge,
        ]
        let expected = unread.union([.verdictDiffers, .bytesDiffer, .ledgerDiffers])
        #expect(Set(findings.unchecked.keys) == expected, "and says so")
    }

    /// What is wrong, and the checker's counts of it.
    private static let breaks: [(what: String, change: @Sendable (inout Sample) -> Void, counts: Counts)] = [
        ("a lost attestation", { $0.outcomes.remove(at: 0) }, [.lost: 1]),
        ("a lost assertion", { $0.outcomes.remove(at: 7) }, [.lost: 1]),
        ("a lost dead letter", { $0.outcomes.remove(at: 33) }, [.lost: 1]),
        ("a doubled result", { $0.outcomes.append($0.outcomes[4]) }, [.doubled: 1, .counterTwice: 1]),
        (
            "a result and a dead letter of one request",
            { sample in
                sample.outcomes.append(sample.outcomes[32])
                sample.outcomes[34].source = sample.outcomes[15].source
            },
            [.doubled: 1]
        ),
        (
            "an outcome without a request",
            { sample in
                sample.requests.removeLast()
                sample.replayed.removeLast()
            },
            [.unasked: 1]
        ),
        // Of one key; three stand after a later one.
        ("a swapped order", { $0.outcomes.swapAt(5, 8) }, [.outOfOrder: 3]),
        (
            "another partition",
            { $0.outcomes[31].written = RecordPlace(partition: 0, offset: 90) },
            [.misplaced: 1]
        ),
        (
            "a counter accepted twice, whatever the replay says",
            { sample in
                // The fourth assertion of a key with the third one's counter.
                sample.outcomes[12].counter = 3
                sample.replayed[12].counter = 3
                sample.ledger["A=0"] = 3
            },
            [.counterTwice: 1]
        ),
        (
            "a duplicate that moves a counter",
            { sample in
                sample.outcomes[15].isDuplicate = false
                sample.replayed[15].isDuplicate = false
            },
            [.counterTwice: 1]
        ),
        ("a verdict that is not the replay's", { $0.refuse(4, for: "unknown-key") }, [.verdictDiffers: 1]),
        ("an outcome that the replay lacks", { $0.replayed.removeLast() }, [.verdictDiffers: 1]),
        ("one different byte outside the verdict", { $0.outcomes[4].digest = SHA256.hash([1]) }, [.bytesDiffer: 1]),
        ("a lower counter in the ledger", { $0.ledger["A=0"] = 3 }, [.ledgerDiffers: 1]),
        ("a higher counter in the ledger", { $0.ledger["A=0"] = 5 }, [.ledgerDiffers: 1]),
        ("a key that the ledger lacks", { $0.ledger["A=0"] = nil }, [.ledgerDiffers: 1]),
        ("a key that nobody attested", { $0.ledger["D=0"] = 1 }, [.ledgerDiffers: 1]),
    ]

    @Test(arguments: breaks.indices)
    func `what is wrong is reported`(index: Int) {
        var sample = Sample()
        Self.breaks[index].change(&sample)
        #expect(sample.counts == Self.breaks[index].counts, "\(Self.breaks[index].what)")
    }

    @Test func `a request that a wrong clock has refused is not in the replay, which is that of the others`() {
        var sample = Sample()
        sample.refuse(14, for: "from-future")
        sample.ledger["C=0"] = 3
        let place = sample.outcomes[14].source
        sample.replayed.removeAll { $0.source == place }
        #expect(sample.counts == [.verdictDiffers: 1])
        sample.spoilt = [place]
        #expect(sample.counts == [:])
        sample.outcomes.removeAll { $0.source == place }
        #expect(sample.counts == [.lost: 1], "and has an outcome all the same")
    }
}
