internal import BrokerKit
internal import Streams

/// The exchange: what may be used once, and what an answer brings with it.
extension ChaosChecker {
    mutating func checkExchange() {
        checkChallenges()
        checkTokens()
        let noTokens = "the tokens topic was not read"
        hold(evidence.answers, or: noTokens, .answerLost, .answerUnasked) { $0.checkAnswers($1) }
        hold(evidence.answers, or: noTokens, .tokenDiffers, .tokenIDTwice) { $0.checkMinted($1) }
        hold(evidence.events, or: "the events topic was not read", .eventsDiffer) { $0.checkEvents($1) }
        hold(evidence.topic, or: "the ledger topic was not read", .ledgerTooLarge) { $0.checkSize($1) }
    }

    var accepted: some Sequence<ChaosOutcome> { evidence.outcomes.lazy.filter { $0.verdict == "accepted" } }

    /// No challenge is accepted twice with one key; redeliveries that are marked as such do not count.
    private mutating func checkChallenges() {
        var used: [String: RecordPlace] = [:]
        for outcome in accepted where !outcome.isDuplicate {
            guard let challenge = evidence.exchanges[outcome.source]?.challenge, let keyID = outcome.keyID
            else { continue }
            if let before = used.updateValue(outcome.source, forKey: "\(keyID) \(challenge)") {
                findings.add(.challengeTwice, "\(keyID): for \(before) and for \(outcome.source)")
            }
        }
    }

    /// A token's first use is one request; its redelivery reports the same, marked as a duplicate.
    private mutating func checkTokens() {
        var used: [String: ChaosOutcome] = [:]
        for outcome in accepted where outcome.isAlreadyConsumed == false {
            guard let exchange = evidence.exchanges[outcome.source], let id = exchange.tokenID else { continue }
            guard let before = used[id] else {
                used[id] = outcome
                continue
            }
            let isSame =
                before.requestID == outcome.requestID
                && evidence.exchanges[before.source]?.value == exchange.value
            if !isSame || !outcome.isDuplicate {
                findings.add(.tokenUsedTwice, "\(id): for \(before.source) and for \(outcome.source)")
            }
        }
    }

    /// A record on the tokens topic for each accepted call that has an answer, none for others.
    private mutating func checkAnswers(_ answers: [ChaosAnswer]) {
        var balance: [Call: Int] = [:]
        for outcome in accepted where evidence.exchanges[outcome.source]?.isAnswered == true {
            balance[Call(outcome.source.partition, outcome.requestID ?? ""), default: 0] += 1
        }
        for answer in answers { balance[answer.call, default: 0] -= 1 }
        for (call, missing) in balance.sorted(by: { $0.key.requestID < $1.key.requestID }) {
            for _ in 0..<max(0, missing) { findings.add(.answerLost, call.description) }
            for _ in 0..<max(0, -missing) { findings.add(.answerUnasked, call.description) }
        }
    }

    /// One request, one token, however often it is delivered: same `jti`, same end; and no two requests share one.
    private mutating func checkMinted(_ answers: [ChaosAnswer]) {
        var first: [Call: ChaosAnswer.Token] = [:]
        var owners: [String: Call] = [:]
        for answer in answers {
            guard let token = answer.token else { continue }
            let call = answer.call
            if let before = first[call] {
                if before != token { findings.add(.tokenDiffers, "\(call), at \(answer.written)") }
                continue
            }
            first[call] = token
            if let owner = owners.updateValue(call, forKey: token.id) {
                findings.add(.tokenIDTwice, "\(owner) and \(call)")
            }
        }
    }

    /// An event for each judged exchange that is not a duplicate, with its name and reason.
    private mutating func checkEvents(_ events: [ChaosEvent]) {
        var balance: [ChaosEvent: Int] = [:]
        for outcome in evidence.outcomes where ["accepted", "refused"].contains(outcome.verdict) {
            guard !outcome.isDuplicate, evidence.exchanges[outcome.source]?.isReported == true else { continue }
            // A request that gets 503 is not a failure of the device.
            if let reason = outcome.reason, ["key-mismatch", "too-old", "from-future"].contains(reason) { continue }
            balance[ChaosEvent(of: outcome), default: 0] += 1
        }
        for event in events { balance[event, default: 0] -= 1 }
        for (event, missing) in balance.sorted(by: { $0.key.requestID < $1.key.requestID }) where missing != 0 {
            let what = missing > 0 ? "missing" : "too many"
            findings.add(.eventsDiffer, "\(what): \(event.name) of \(event.requestID) on \(event.partition)")
        }
    }

    /// Beside the keys and what has not expired yet a partition has a stream time, a sealing key and little else: the
    /// run's last request on each partition comes in a batch of its own, which forgets what expired before it.
    private mutating func checkSize(_ topic: ChaosLedger) {
        let overdue = topic.overdue(at: evidence.streamTimes)
        let others = Self.othersPerPartition * Set(evidence.requests.map(\.partition)).count
        guard overdue > 0 || topic.others > others else { return }
        findings.add(.ledgerTooLarge, "\(overdue) ids that expired, \(topic.others) other records of \(others) at most")
    }

    private static let othersPerPartition = 4

    /// A call by the partition of its request and its id.
    struct Call: Hashable, CustomStringConvertible {
        let partition: Int32
        let requestID: String

        init(_ partition: Int32, _ requestID: String) { (self.partition, self.requestID) = (partition, requestID) }

        var description: String { "\(requestID) on \(partition)" }
    }
}

extension ChaosAnswer {
    var call: ChaosChecker.Call { ChaosChecker.Call(written.partition, requestID) }
}

extension ChaosEvidence {
    /// By partition, the time of the last accepted request: the stream has come so far at least. Milliseconds.
    package var streamTimes: [Int32: Int64] {
        var times: [Int32: Int64] = [:]
        for outcome in outcomes where outcome.verdict == "accepted" {
            times[outcome.source.partition] = max(times[outcome.source.partition] ?? 0, outcome.timestamp ?? 0)
        }
        return times
    }

    /// How often each method came to each judgement.
    package var exchangeCounts: [String: Int] {
        var counts: [String: Int] = [:]
        for outcome in outcomes {
            guard let exchange = exchanges[outcome.source] else { continue }
            let marks =
                (outcome.isDuplicate ? " (duplicate)" : "") + (outcome.isAlreadyConsumed == true ? ", used" : "")
            counts["\(exchange.verb.rawValue): \(outcome.reason ?? outcome.verdict)\(marks)", default: 0] += 1
        }
        return counts
    }
}
