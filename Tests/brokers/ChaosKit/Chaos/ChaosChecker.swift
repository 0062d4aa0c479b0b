internal import BrokerKit
package import Streams

/// Everything that a run left in the topics.
package struct ChaosEvidence: Sendable {
    /// Every request that lies in the requests topic.
    package var requests: [RecordPlace]
    /// Per topic in the order of partition and offset: results, then dead letters, as a reader of committed records
    /// gets them.
    package var outcomes: [ChaosOutcome]
    /// A replay's outcome of each request; nil without a replay.
    package var replayed: [ChaosOutcome]?
    /// Counters by key ID (standard base64), as exported from the ledger; nil where they could not be.
    package var ledger: [String: Int64]?
    /// Those that were there before the first request.
    package var keysBefore: [String: Int64] = [:]
    /// The challenges and tokens that requests of the exchange consume.
    package var exchanges: [RecordPlace: ChaosExchange] = [:]
    /// The tokens topic, in the order of partition and offset; nil where it was not read.
    package var answers: [ChaosAnswer]?
    /// The events topic; nil where it was not read.
    package var events: [ChaosEvent]?
    /// The ledger topic; nil where it was not read.
    package var topic: ChaosLedger?
    /// Requests that a wrong clock may have refused; no replay has them.
    package var spoilt: Set<RecordPlace> = []
    /// Of stock clients at gateways; nil where there were none.
    package var clients: ChaosClientReport?
}

/// Checks the evidence of a run against the worker's promises.
package struct ChaosChecker {
    let evidence: ChaosEvidence
    var findings = ChaosFindings()
    /// The index of each request's first outcome.
    private var first: [RecordPlace: Int] = [:]

    private init(_ evidence: ChaosEvidence) { self.evidence = evidence }

    package static func check(_ evidence: ChaosEvidence) -> ChaosFindings {
        var checker = ChaosChecker(evidence)
        checker.checkOnce()
        checker.checkPlaces()
        checker.checkOrder()
        checker.checkCounters()
        checker.hold(evidence.replayed, or: "no replay", .verdictDiffers, .bytesDiffer) { $0.checkVerdicts($1) }
        checker.hold(evidence.ledger, or: "no export", .ledgerDiffers) { $0.checkLedger($1) }
        checker.checkExchange()
        checker.checkClients()
        return checker.findings
    }

    /// Checks a part of the evidence; without it these promises are unchecked.
    mutating func hold<Part>(
        _ part: Part?,
        or reason: String,
        _ kinds: ChaosFindings.Kind...,
        by check: (inout ChaosChecker, Part) -> Void
    ) {
        if let part { return check(&self, part) }
        for kind in kinds { findings.unchecked[kind] = reason }
    }

    /// Exactly one outcome for each request.
    private mutating func checkOnce() {
        let requests = Set(evidence.requests)
        first.reserveCapacity(requests.count)
        for (index, outcome) in evidence.outcomes.enumerated() {
            if !requests.contains(outcome.source) {
                findings.add(.unasked, "\(outcome.written) is about \(outcome.source)")
            } else if let other = first[outcome.source] {
                let before = evidence.outcomes[other]
                findings.add(.doubled, "\(outcome.source): at \(before.written) and \(outcome.written)")
            } else {
                first[outcome.source] = index
            }
        }
        for place in evidence.requests where first[place] == nil { findings.add(.lost, place.description) }
    }

    private mutating func checkPlaces() {
        for outcome in evidence.outcomes where outcome.written.partition != outcome.source.partition {
            findings.add(.misplaced, "\(outcome.source) is answered at \(outcome.written)")
        }
    }

    /// Within a topic and partition outcomes stand in their requests' order, which orders each key's too. What is there
    /// twice counts where it stood first: the second one is counted as doubled.
    private mutating func checkOrder() {
        // By partition, of results and of dead letters.
        var last: [Bool: [Int32: RecordPlace]] = [:]
        for (index, outcome) in evidence.outcomes.enumerated() where first[outcome.source] == index {
            let partition = outcome.written.partition
            if let before = last[outcome.isDeadLetter]?[partition], before > outcome.source {
                findings.add(.outOfOrder, "\(outcome.source) stands after \(before), at \(outcome.written)")
            } else {
                last[outcome.isDeadLetter, default: [:]][partition] = outcome.source
            }
        }
    }

    /// No counter of a key moves it twice; an attestation's 0 moves nothing.
    private mutating func checkCounters() {
        var accepted: [String: [Int64: RecordPlace]] = [:]
        for outcome in evidence.outcomes {
            guard let (keyID, counter) = outcome.movedCounter, counter > 0 else { continue }
            if let before = accepted[keyID]?[counter] {
                findings.add(.counterTwice, "\(keyID) \(counter): for \(before) and for \(outcome.source)")
            } else {
                accepted[keyID, default: [:]][counter] = outcome.source
            }
        }
    }

    /// Each first outcome against the replay's: the judgement, then every byte. Requests that a wrong clock has refused
    /// changed nothing, and the replay is that of the others.
    private mutating func checkVerdicts(_ replayed: [ChaosOutcome]) {
        var missing = Set(first.keys).subtracting(evidence.spoilt)
        for expected in replayed {
            guard let index = first[expected.source] else { continue }
            missing.remove(expected.source)
            let outcome = evidence.outcomes[index]
            if outcome.judgement != expected.judgement {
                findings.add(.verdictDiffers, "\(expected.source): \(outcome.judgement), not \(expected.judgement)")
            } else if outcome.digest != expected.digest {
                findings.add(differing: outcome)
            }
        }
        for place in missing.sorted() { findings.add(.verdictDiffers, "\(place) is not in the replay") }
    }

    /// The counters of keys as the accepted results have them, against the ledger's.
    private mutating func checkLedger(_ ledger: [String: Int64]) {
        var counters = evidence.keysBefore
        for outcome in evidence.outcomes {
            guard let (keyID, counter) = outcome.movedCounter else { continue }
            counters[keyID] = max(counters[keyID] ?? 0, counter)
        }
        for (keyID, counter) in counters.sorted(by: { $0.key < $1.key }) where ledger[keyID] != counter {
            let found = ledger[keyID].map(String.init) ?? "nothing"
            findings.add(.ledgerDiffers, "\(keyID): \(found) in the ledger, \(counter) in the results")
        }
        for keyID in ledger.keys.sorted() where counters[keyID] == nil {
            findings.add(.ledgerDiffers, "\(keyID) is in the ledger and was never accepted")
        }
    }
}
