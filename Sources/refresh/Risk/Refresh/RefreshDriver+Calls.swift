package import AppAttest

extension RefreshDriver {
    /// How long a request waits that was not written, before its receipt is exchanged again.
    private static let unwrittenMilliseconds = Milliseconds.minute

    /// The next call, or how long there is none.
    package mutating func next(at time: EvaluationTime) -> RefreshStep {
        bucket.restore(at: time)
        notices.checkRates(bucket, at: time)
        guard var free = bucket.next else { return .wait(until: nil) }
        if let opensAt = clock.opensAt { free = max(free, opensAt) }
        while free <= time, let place = turn(at: time) {
            guard let call = begin(place, at: time) else { continue }
            lastTurn = place
            return .call(call)
        }
        guard let wake = wakes.min(), wake != .max else { return .wait(until: nil) }
        return .wait(until: max(free, EvaluationTime(milliseconds: wake)))
    }

    /// The pair that has waited longest, of the first line that has one due; of equal ones the next in turn.
    private func turn(at time: EvaluationTime) -> Int? {
        for line in ReceiptLine.allCases {
            let first = places(of: line).min { (wakes[$0], rank($0)) < (wakes[$1], rank($1)) }
            if let first, wakes[first] <= time.milliseconds { return first }
        }
        return nil
    }

    private func rank(_ place: Int) -> Int { place > lastTurn ? place - queues.count : place }

    /// - Returns: nil where the pair has no receipt whose call may begin now; the next turn is then another's.
    private mutating func begin(_ place: Int, at time: EvaluationTime) -> ReceiptCall? {
        defer { refresh(place) }
        guard let entry = queues[place]?.due(at: time) else { return nil }
        let free = max(breakers[entry.account]?.opensAt ?? time, bucket.next(in: entry.account.environment))
        guard free <= time else {
            for place in queues.indices where wakes[place] <= time.milliseconds {
                queues[place]?.hold(entry.account, until: free, at: time)
                refresh(place)
            }
            return nil
        }
        let isProbe = breakers[entry.account]?.isOpen ?? false
        guard isProbe, let probe = probe(of: entry.account, at: time) else {
            return begin(entry, of: place, isProbe: isProbe, at: time)
        }
        return begin(probe.entry, of: probe.place, isProbe: true, at: time)
    }

    /// An open breaker's one call is for the receipt that has failed least often, lest one that always fails is each probe;
    /// of equal ones for the newest, which Apple knows most likely.
    private func probe(of account: CallAccount, at time: EvaluationTime) -> (place: Int, entry: ReceiptQueue.Entry)? {
        queues.indices
            .compactMap { place in queues[place]?.leastFailed(of: account, at: time).map { (place: place, entry: $0) } }
            .min { left, right in
                let (newest, other) = (left.entry.receipt.dates.createdAt, right.entry.receipt.dates.createdAt)
                return (left.entry.failures, other) < (right.entry.failures, newest)
            }
    }

    private mutating func begin(
        _ entry: ReceiptQueue.Entry,
        of place: Int,
        isProbe: Bool,
        at time: EvaluationTime
    ) -> ReceiptCall? {
        defer { refresh(place) }
        guard let (pair, assignment) = queues[place].map({ ($0.pair, $0.assignment) }) else { return nil }
        let account = entry.account
        guard let grant = tokens.grant(account.team, at: time) else {
            preconditionFailure("a receipt in memory belongs to a team with a key")
        }
        breakers[account]?.begin(at: time)
        clock.begin(at: time)
        bucket.take(account.environment, at: time)
        queues[place]?.begin(entry.offset)
        lastNumber += 1
        let call = ReceiptCall(
            number: lastNumber,
            pair: pair,
            offset: entry.offset,
            due: entry.due,
            receipt: entry.receipt,
            account: account,
            grant: grant,
            isProbe: isProbe,
            assignment: assignment
        )
        open[lastNumber] = OpenCall(call: call)
        return call
    }

    /// A call has ended.
    ///
    /// - Returns: the request that must be written, if Apple has answered with a new receipt.
    package mutating func end(_ number: UInt, _ reply: CallReply, at time: EvaluationTime) -> VerifyRequest? {
        guard let open = open[number], !open.isWriting else { return nil }
        let (call, answer) = (open.call, reply.answer)
        var received: [UInt8] = []
        let outcome = reply.outcome { bytes in
            received = bytes
            return judge.judge(bytes, to: call.receipt, at: time)
        }
        bucket.end()
        counts.note(outcome, call.environment, at: time)
        noteClock(outcome, answer, at: time)
        noteRate(outcome, call.environment, answer, at: time)
        // While a breaker is open, the calls that it lets through are the only ones that count.
        let isCounted = call.isProbe || breakers[call.account]?.isOpen != true
        noteBreaker(outcome, call, answer, at: time)
        notices.add(outcome, call.environment, answer, at: time)
        if case .verified = outcome {
            self.open[number]?.isWriting = true
            return VerifyRequest(number, call.receipt, received: received, partition: call.pair.partition)
        }
        self.open[number] = nil
        if outcome.isFinal { change(call) { $0.end(call.offset) } } else { fail(call, outcome, isCounted, at: time) }
        return nil
    }

    /// The request of a call was written, or the write has failed, or its outcome is unknown: then the receipt is
    /// exchanged once more.
    package mutating func acknowledge(_ number: UInt, isWritten: Bool, at time: EvaluationTime) {
        guard let call = open[number], call.isWriting else { return }
        open[number] = nil
        let (offset, later) = (call.call.offset, time.after(milliseconds: Self.unwrittenMilliseconds))
        change(call.call) { if isWritten { $0.end(offset) } else { $0.wait(offset, until: later) } }
    }

    /// Calls and requests that have not ended.
    package var openCount: Int { open.count }

    /// Calls without an answer, by environment.
    package func inFlight(_ environment: Environment) -> Int {
        open.values.count { !$0.isWriting && $0.call.environment == environment }
    }
}

// MARK: - Answers

extension RefreshDriver {
    private mutating func noteClock(_ outcome: CallOutcome, _ answer: ReceiptAnswer?, at time: EvaluationTime) {
        let isSuspect = clock.note(outcome, serverTime: answer?.serverTime, at: time)
        if isSuspect || !clock.isReady, let offset = clock.offset { notices.add(.clock(offset: offset), at: time) }
    }

    private mutating func noteRate(
        _ outcome: CallOutcome,
        _ environment: Environment,
        _ answer: ReceiptAnswer?,
        at time: EvaluationTime
    ) {
        if outcome == .throttled, bucket.wasThrottled(in: environment, at: time) {
            notices.noteLowered(environment, bucket.rate(in: environment), at: time)
        }
        if let pause = answer?.retryAfterMilliseconds, outcome.failure == .pressure {
            bucket.pause(environment, milliseconds: pause, at: time)
        }
    }

    private mutating func noteBreaker(
        _ outcome: CallOutcome,
        _ call: ReceiptCall,
        _ answer: ReceiptAnswer?,
        at time: EvaluationTime
    ) {
        var breaker = breakers[call.account] ?? CallBreaker()
        let change = note(outcome, call, &breaker, at: time)
        // A call may end after a reload has taken its team's key away: such a breaker waits for nothing.
        breakers[call.account] = breaker.isFresh || !tokens.hasKey(of: call.account.team) ? nil : breaker
        switch change {
        case .opened(let failure):
            let (trace, probe) = (answer?.traceID, breaker.opensAt ?? time)
            notices.add(.breakerOpened(call.account, failure, trace: trace, nextProbe: probe), at: time)
        case .closed:
            notices.add(.breakerClosed(call.account), at: time)
            for place in queues.indices {
                queues[place]?.release(call.account, at: time)
                refresh(place)
            }
        case nil: break
        }
    }

    private mutating func note(
        _ outcome: CallOutcome,
        _ call: ReceiptCall,
        _ breaker: inout CallBreaker,
        at time: EvaluationTime
    ) -> CallBreaker.Change? {
        if outcome == .unauthorized, !tokens.wasRefused(call.grant, at: time) { return nil }
        if let failure = outcome.failure { return breaker.fail(failure, at: time) }
        tokens.wasAccepted(call.grant)
        if case .verified = outcome { return breaker.succeed() }
        return breaker.answer()
    }

    /// A call has failed in a way that may pass.
    private mutating func fail(_ call: ReceiptCall, _ outcome: CallOutcome, _ isCounted: Bool, at time: EvaluationTime)
    {
        guard isCounted else { return change(call) { $0.wait(call.offset, until: time) } }
        var isLast = false
        change(call) { isLast = $0.fail(call.offset, at: time) }
        guard isLast else { return }
        counts.noteSkipped(call.environment)
        notices.add(.skipped(call.pair.line, call.environment, outcome: outcome.name), at: time)
    }

    /// Changes the queue of a call, unless its pair was revoked since.
    private mutating func change(_ call: ReceiptCall, _ body: (inout ReceiptQueue) -> Void) {
        let place = place(of: call.pair)
        guard var queue = queues[place], queue.assignment == call.assignment else { return }
        // One owner: a second one would make a copy of the receipts.
        queues[place] = nil
        body(&queue)
        queues[place] = queue
        refresh(place)
    }
}
