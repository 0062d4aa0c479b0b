package import AppAttest

/// Decides which receipt is exchanged when: the lines' heads, the rate, the breakers and the tokens together. A value:
/// it makes no call, produces nothing and knows no clock; its time never goes back.
package struct RefreshDesk: Sendable {
    /// How long a visit waits whose team has lost its key by a reload.
    private static let keylessMilliseconds = CallBreaker.probeMilliseconds
    /// How long one waits whose receipt was refused by an answer 401.
    private static let refusedMilliseconds = CallBreaker.probeMilliseconds

    private struct Reading {
        let pair: LinePair
        let assignment: Int
        var partition: LinePartition
    }

    private let settings: LineSettings
    private let partitions: Int
    private var readings: [Reading] = []
    /// Milliseconds since 1970 at which a reading's next visit is due, or may be asked for again; in the same order.
    private var wakes: [Int64] = []
    /// Each pair's place in `readings`, line by line; -1 = it is not assigned.
    private var places: [Int]
    private var assignments = 0
    package private(set) var bucket: CallBucket
    package private(set) var tokens: ProviderTokens
    package private(set) var clock = ServerClock()
    /// Breakers that have something to remember.
    package private(set) var breakers: [CallAccount: CallBreaker] = [:]

    /// - Parameter partitions: those of the topic.
    package init(lines: LineSettings, callsPerSecond: Double, partitions: Int, tokens: ProviderTokens) {
        (settings, self.partitions, self.tokens) = (lines, partitions, tokens)
        places = Array(repeating: -1, count: ReceiptLine.allCases.count * partitions)
        bucket = CallBucket(callsPerSecond: callsPerSecond)
    }
}

// MARK: - Partitions

extension RefreshDesk {
    package var pairs: [LinePair] { readings.map(\.pair) }

    /// - Parameter offset: the committed position.
    package mutating func assign(_ pair: LinePair, from offset: Int64) {
        precondition(place(of: pair) == nil, "a pair is assigned once")
        places[number(of: pair)] = readings.count
        assignments += 1
        let partition = LinePartition(pair.line, from: offset, settings: settings)
        readings.append(Reading(pair: pair, assignment: assignments, partition: partition))
        wakes.append(.max)
        bucket.assign(pairs: readings.count, partitions: partitions)
    }

    /// Forgets a pair. Answers to its calls still count for rate and breaker.
    package mutating func revoke(_ pair: LinePair) {
        guard let place = place(of: pair) else { return }
        readings.remove(at: place)
        wakes.remove(at: place)
        places[number(of: pair)] = -1
        for place in readings.indices { places[number(of: readings[place].pair)] = place }
        bucket.assign(pairs: readings.count, partitions: partitions)
    }

    /// How many records may be appended; 0 for a pair that is not assigned.
    package func room(of pair: LinePair) -> Int { place(of: pair).map { readings[$0].partition.room } ?? 0 }

    /// Visits from the position on that are in memory, ended ones among them.
    package func spannedCount(of pair: LinePair) -> Int {
        place(of: pair).map { readings[$0].partition.spannedCount } ?? 0
    }

    package mutating func append(_ record: LineRecord, to pair: LinePair) {
        guard let place = place(of: pair) else { return }
        readings[place].partition.append(record)
        refresh(place)
    }

    /// The position that may be committed; nil for a pair that is not assigned.
    package func position(of pair: LinePair) -> Int64? { place(of: pair).map { readings[$0].partition.position } }

    /// Visits that are begun or kept.
    package var unfinishedCount: Int { readings.reduce(0) { $0 + $1.partition.unfinishedCount } }

    /// Milliseconds for which the oldest visit of a line has been due; nil while none is.
    package func lag(of line: ReceiptLine, at time: EvaluationTime) -> Int64? {
        let due = readings.compactMap { $0.pair.line == line ? $0.partition.oldestDue : nil }.min()
        return due.flatMap { $0 <= time ? time.since($0) : nil }
    }

    private func number(of pair: LinePair) -> Int {
        precondition((0..<partitions).contains(Int(pair.partition)), "the topic has this partition")
        return pair.line.rawValue * partitions + Int(pair.partition)
    }

    private func place(of pair: LinePair) -> Int? {
        let place = places[number(of: pair)]
        return place < 0 ? nil : place
    }

    private mutating func refresh(_ place: Int) {
        wakes[place] = (readings[place].partition.next ?? .never).milliseconds
    }
}

// MARK: - Calls

extension RefreshDesk {
    /// - Parameter time: not before that of the call before.
    package mutating func next(at time: EvaluationTime) -> DeskStep {
        bucket.restore(at: time)
        guard var free = bucket.next else { return .wait(until: nil) }
        if let opensAt = clock.opensAt { free = max(free, opensAt) }
        while free <= time, let place = turn(at: time) {
            if let call = begin(place, at: time) { return .call(call) }
        }
        guard let wake = wakes.min(), wake != .max else { return .wait(until: nil) }
        return .wait(until: max(free, EvaluationTime(milliseconds: wake)))
    }

    /// The pair whose visit has been due longest, of the line whose turn it is.
    private func turn(at time: EvaluationTime) -> Int? {
        var heads: [3 of Int] = [-1, -1, -1]
        for place in wakes.indices where wakes[place] <= time.milliseconds {
            let line = readings[place].pair.line.rawValue
            if heads[line] < 0 || wakes[place] < wakes[heads[line]] { heads[line] = place }
        }
        return bucket.shares.turn([heads[0] >= 0, heads[1] >= 0, heads[2] >= 0]).map { heads[$0.rawValue] }
    }

    /// - Returns: nil where the pair has no visit that may begin now; the next turn is then another's.
    private mutating func begin(_ place: Int, at time: EvaluationTime) -> DeskCall? {
        guard let visit = readings[place].partition.dueVisit(at: time) else {
            refresh(place)
            return nil
        }
        let account = visit.appointment.account
        if let opensAt = breakers[account]?.opensAt, opensAt > time {
            return putAside(visit, of: place, until: opensAt, at: time)
        }
        // A host that is called more slowly holds up its partition: what is put aside costs memory.
        let free = bucket.next(in: account.environment)
        guard free <= time else {
            wakes[place] = free.milliseconds
            return nil
        }
        guard let grant = tokens.grant(account.team, at: time) else {
            let until = time.after(milliseconds: Self.keylessMilliseconds)
            return putAside(visit, of: place, until: until, at: time)
        }
        guard breakers[account]?.isOpen == true, let probe = probe(of: account, at: time) else {
            return begin(visit, of: place, grant, at: time)
        }
        return begin(probe.visit, of: probe.place, grant, at: time)
    }

    /// The visit that finds out whether an account's breaker may close: the one that was kept least often, lest one
    /// receipt that always fails is each probe.
    private func probe(of account: CallAccount, at time: EvaluationTime) -> (place: Int, visit: LineVisit)? {
        readings.indices
            .compactMap { place in
                readings[place].partition.leastKept(of: account, at: time).map { (place: place, visit: $0) }
            }
            .min { ($0.visit.keptBefore, $0.visit.due) < ($1.visit.keptBefore, $1.visit.due) }
    }

    private mutating func begin(
        _ visit: LineVisit,
        of place: Int,
        _ grant: ProviderTokens.Grant,
        at time: EvaluationTime
    ) -> DeskCall {
        let account = visit.appointment.account
        breakers[account]?.begin(at: time)
        clock.begin(at: time)
        // Not the reading itself: a second owner of its records would make a copy of them.
        let (pair, assignment) = (readings[place].pair, readings[place].assignment)
        bucket.take(pair.line, account.environment, at: time)
        readings[place].partition.begin(visit.offset)
        refresh(place)
        return DeskCall(pair: pair, visit: visit, grant: grant, assignment: assignment)
    }

    private mutating func putAside(
        _ visit: LineVisit,
        of place: Int,
        until: EvaluationTime,
        at time: EvaluationTime
    ) -> DeskCall? {
        readings[place].partition.putAside(visit.offset, until: until, at: time)
        refresh(place)
        return nil
    }
}

// MARK: - Answers

extension RefreshDesk {
    /// A call has ended.
    ///
    /// - Parameters:
    ///   - retryAfterMilliseconds: of the answer.
    ///   - serverTime: of the answer.
    package mutating func end(
        _ call: DeskCall,
        _ outcome: CallOutcome,
        retryAfterMilliseconds: Int64? = nil,
        serverTime: EvaluationTime? = nil,
        at time: EvaluationTime,
        using random: inout some RandomNumberGenerator
    ) -> DeskEffect {
        bucket.end()
        var effect = DeskEffect()
        effect.suspectsClock = clock.note(outcome, serverTime: serverTime, at: time)
        let environment = call.account.environment
        if outcome == .throttled {
            let before = bucket.rate(in: environment)
            bucket.wasThrottled(in: environment, at: time)
            effect.hasLoweredRate = bucket.rate(in: environment) < before
        }
        if let retryAfterMilliseconds, outcome.failure == .pressure {
            bucket.pause(environment, milliseconds: retryAfterMilliseconds, at: time)
        }
        if outcome == .unauthorized {
            endUnauthorized(call, &effect, at: time)
            return effect
        }
        let delay = RetryDelay.milliseconds(keptBefore: call.visit.keptBefore, using: &random)
        effect.breaker = note(outcome, call, at: time)
        if case .verified = outcome {
            effect.mustProduce = true
        } else {
            end(call, outcome.isFinal ? .done : .kept(until: time.after(milliseconds: delay)))
        }
        return effect
    }

    /// An answer 401: the token's, the key's or the receipt's fault. ``KeyStanding`` has the rule.
    private mutating func endUnauthorized(_ call: DeskCall, _ effect: inout DeskEffect, at time: EvaluationTime) {
        let account = call.account
        let later = time.after(milliseconds: Self.refusedMilliseconds)
        switch tokens.wasRefused(call.grant, for: call.receipt, in: account.environment, at: time) {
        case .tryAgain: end(call, .kept(until: time))
        case .unknown: end(call, .kept(until: later))
        case .refused:
            effect.breaker = note(account, at: time) { $0.fail(.unauthorized, at: time) }
            end(call, .kept(until: later))
        case .receipt:
            // Apple hears us and knows the team.
            effect.breaker = note(account, at: time) { $0.answer() }
            effect.endsRefused = call.visit.refusedBefore + 1 >= KeyStanding.mostRefusalsOfReceipt
            end(call, effect.endsRefused ? .done : .refused(until: later))
        }
    }

    /// The new receipt of a verified answer is written, or never will be: the receipt is then exchanged once more.
    package mutating func acknowledge(
        _ call: DeskCall,
        isWritten: Bool,
        at time: EvaluationTime,
        using random: inout some RandomNumberGenerator
    ) {
        let delay = RetryDelay.milliseconds(keptBefore: call.visit.keptBefore, using: &random)
        end(call, isWritten ? .done : .kept(until: time.after(milliseconds: delay)))
    }

    /// Takes the keys of a reload. Breakers of a team probe at once: its new key may be what was missing. Those of a team
    /// without a key are forgotten.
    package mutating func reload(_ keys: [ProviderKey], at time: EvaluationTime) {
        tokens.reload(keys)
        let teams = Set(keys.map(\.team))
        breakers = breakers.filter { teams.contains($0.key.team) }
        for account in breakers.keys { breakers[account]?.probe(at: time) }
        for key in keys {
            for environment in Environment.allCases {
                resume(CallAccount(team: key.team, environment: environment), at: time)
            }
        }
    }

    /// Takes the rate of a reload.
    package mutating func change(callsPerSecond: Double) { bucket.change(callsPerSecond: callsPerSecond) }

    /// Whether a call's pair is still that of its assignment.
    package func owns(_ call: DeskCall) -> Bool {
        place(of: call.pair).map { readings[$0].assignment == call.assignment } ?? false
    }

    private mutating func note(_ outcome: CallOutcome, _ call: DeskCall, at time: EvaluationTime) -> CallBreaker.Change?
    {
        if let failure = outcome.failure { return note(call.account, at: time) { $0.fail(failure, at: time) } }
        tokens.wasAccepted(call.grant, in: call.account.environment)
        return note(call.account, at: time) { breaker in
            if case .verified = outcome { breaker.succeed() } else { breaker.answer() }
        }
    }

    private mutating func note(
        _ account: CallAccount,
        at time: EvaluationTime,
        _ event: (inout CallBreaker) -> CallBreaker.Change?
    ) -> CallBreaker.Change? {
        var breaker = breakers[account] ?? CallBreaker()
        let change = event(&breaker)
        breakers[account] = breaker.isFresh ? nil : breaker
        if change == .closed { resume(account, at: time) }
        return change
    }

    private mutating func resume(_ account: CallAccount, at time: EvaluationTime) {
        for place in readings.indices {
            readings[place].partition.resume(account, at: time)
            refresh(place)
        }
    }

    private mutating func end(_ call: DeskCall, _ end: VisitEnd) {
        guard let place = place(of: call.pair), readings[place].assignment == call.assignment else { return }
        readings[place].partition.end(call.visit.offset, end)
        refresh(place)
    }
}
