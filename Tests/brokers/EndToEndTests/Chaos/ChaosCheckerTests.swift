import BrokerKit
import ChaosKit
import Crypto
import Testing

/// A small run's outcomes, right in every way; each test breaks one thing.
private struct Sample {
    static let keys = ["A=", "B=", "C="]

    var requests: [ChaosPlace] = []
    var outcomes: [ChaosOutcome] = []
    var replayed: [ChaosOutcome]
    var ledger: [String: Int64] = [:]
    var spoilt: Set<ChaosPlace> = []

    /// On each of two partitions: three keys attest, then assert four times; then a dead letter and a duplicate.
    init() {
        for partition in 0..<2 as Range<Int32> {
            var offset: Int64 = 0
            func next() -> ChaosPlace {
                defer { offset += 1 }
                return ChaosPlace(partition, offset)
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
            let place = ChaosPlace(partition, 16)
            requests.append(place)
            var letter = ChaosOutcome(source: place, written: ChaosPlace(partition, 0), verdict: "dead letter")
            letter.isDeadLetter = true
            letter.reason = "not-json"
            outcomes.append(letter)
        }
        replayed = outcomes
    }

    private static func accepted(_ place: ChaosPlace, _ keyID: String, _ counter: Int64) -> ChaosOutcome {
        var outcome = ChaosOutcome(source: place, written: place, verdict: "accepted")
        outcome.keyID = keyID
        outcome.counter = counter
        outcome.digest = SHA256.hash(Array("\(place) \(keyID) \(counter)".utf8))
        return outcome
    }

    /// The checker's counts; kinds without a finding are left out.
    var counts: [ChaosFindings.Kind: Int] {
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

    @Test(arguments: [0, 7, 33])
    func `a lost outcome is reported`(index: Int) {
        var sample = Sample()
        sample.outcomes.remove(at: index)
        var expected: [ChaosFindings.Kind: Int] = [.lost: 1]
        // The first request of all is an attestation, the second to last a counter that only the ledger knows then.
        if index == 33 { #expect(sample.outcomes.count == 33) }
        expected[.ledgerDiffers] = sample.counts[.ledgerDiffers]
        #expect(sample.counts == expected)
    }

    @Test func `a duplicate outcome is reported, also as a counter accepted twice`() {
        var sample = Sample()
        var again = sample.outcomes[4]
        again.written.offset = 40
        sample.outcomes.append(again)
        #expect(sample.counts == [.doubled: 1, .counterTwice: 1])
    }

    @Test func `a result and a dead letter of one request are two outcomes`() {
        var sample = Sample()
        var letter = sample.outcomes[33]
        letter.source = sample.outcomes[15].source
        letter.written = ChaosPlace(0, 1)
        sample.outcomes.append(letter)
        #expect(sample.counts == [.doubled: 1])
    }

    @Test func `an outcome without a request is reported`() {
        var sample = Sample()
        sample.requests.removeAll { $0 == ChaosPlace(1, 16) }
        sample.replayed.removeLast()
        #expect(sample.counts == [.unasked: 1])
    }

    @Test func `outcomes in swapped order are reported`() {
        var sample = Sample()
        sample.outcomes.swapAt(5, 8)
        #expect(sample.outcomes[5].keyID == sample.outcomes[8].keyID, "two of one key")
        #expect(sample.counts == [.outOfOrder: 3], "the three that stand after a later one")
    }

    @Test func `an outcome on another partition is reported`() {
        var sample = Sample()
        sample.outcomes[2].written = ChaosPlace(1, 90)
        #expect(sample.counts[.misplaced] == 1)
    }

    @Test func `a counter that was accepted twice is reported, whatever the replay says`() {
        var sample = Sample()
        // The fourth assertion of a key with the third one's counter.
        sample.outcomes[12].counter = 3
        sample.replayed[12].counter = 3
        sample.ledger["A=0"] = 3
        #expect(sample.counts == [.counterTwice: 1])
    }

    @Test func `a duplicate moves no counter`() {
        var sample = Sample()
        sample.outcomes[15].isDuplicate = false
        sample.replayed[15].isDuplicate = false
        #expect(sample.counts == [.counterTwice: 1])
    }

    @Test func `a verdict that differs from the replay's is reported`() {
        var sample = Sample()
        sample.outcomes[4].verdict = "refused"
        sample.outcomes[4].reason = "unknown-key"
        #expect(sample.counts == [.verdictDiffers: 1])
        sample = Sample()
        sample.replayed.removeLast()
        #expect(sample.counts == [.verdictDiffers: 1])
    }

    @Test func `a request that a wrong clock has refused is not in the replay, which is that of the others`() {
        var sample = Sample()
        sample.outcomes[14].verdict = "refused"
        sample.outcomes[14].reason = "from-future"
        sample.ledger["C=0"] = 3
        let place = sample.outcomes[14].source
        sample.replayed.removeAll { $0.source == place }
        #expect(sample.counts == [.verdictDiffers: 1])
        sample.spoilt = [place]
        #expect(sample.counts == [:])
        sample.outcomes.removeAll { $0.source == place }
        #expect(sample.counts == [.lost: 1], "and has an outcome all the same")
    }

    @Test func `one different byte outside the verdict is reported`() {
        var sample = Sample()
        sample.outcomes[4].digest = SHA256.hash([1])
        #expect(sample.counts == [.bytesDiffer: 1])
    }

    @Test(arguments: [("A=0", 3), ("A=0", 5), ("A=0", nil), ("D=0", 1)] as [(String, Int64?)])
    func `a ledger with a different content is reported`(keyID: String, counter: Int64?) {
        var sample = Sample()
        sample.ledger[keyID] = counter
        #expect(sample.counts == [.ledgerDiffers: 1])
    }
}
