internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Risk
internal import Testing

@Suite("The desk")
struct RefreshDeskTests {
    private static let pair = LinePair(line: .first, partition: 0)
    private static let due = Sample.at(Milliseconds.minute)

    private var random = SeededRandom(seed: 4)
    private let key: ProviderKey

    init() throws {
        key = try #require(ProviderKey(team: "ABCDE12345", kid: "K", key: try SigningKey.generate(.p256)))
    }

    /// A desk with all pairs of so many partitions.
    private func desk(callsPerSecond: Double = 1_000, partitions: Int32 = 1) -> RefreshDesk {
        var desk = RefreshDesk(
            lines: LineSettings(),
            callsPerSecond: callsPerSecond,
            partitions: Int(partitions),
            tokens: ProviderTokens([key])
        )
        for line in ReceiptLine.allCases {
            for partition in 0..<partitions { desk.assign(LinePair(line: line, partition: partition), from: 0) }
        }
        return desk
    }

    private func call(_ step: DeskStep) -> DeskCall? { if case .call(let call) = step { call } else { nil } }

    /// The calls that begin at one time and a few milliseconds later, each ended by an outcome.
    private mutating func answerAll(
        _ desk: inout RefreshDesk,
        _ outcome: CallOutcome,
        at time: EvaluationTime,
        most: Int = .max
    ) -> [DeskEffect] {
        var (effects, now) = ([DeskEffect](), time)
        while effects.count < most {
            switch desk.next(at: now) {
            case .call(let call): effects.append(desk.end(call, outcome, at: now, using: &random))
            case .wait(let until):
                guard let until, until <= time.after(milliseconds: 500) else { return effects }
                now = until
            }
        }
        return effects
    }

    @Test func `a receipt is called for when it is due, and the wait says when`() {
        var desk = desk()
        #expect(desk.next(at: Sample.start) == .wait(until: nil))
        desk.append(Sample.record(0, Sample.attest(0)), to: Self.pair)
        #expect(desk.next(at: Sample.start) == .wait(until: Self.due))
        let call = call(desk.next(at: Self.due))
        #expect(call?.pair == Self.pair && call?.visit.offset == 0 && call?.account == Sample.account)
        #expect(desk.next(at: Self.due) == .wait(until: nil))
        #expect(desk.position(of: Self.pair) == 0)
    }

    @Test mutating func `the position passes a verified answer once its receipt is written`() throws {
        for isWritten in [true, false] {
            var desk = desk()
            desk.append(Sample.record(0, Sample.attest(0)), to: Self.pair)
            let call = try present(call(desk.next(at: Self.due)))
            let effect = desk.end(call, .verified(.accepted), at: Self.due, using: &random)
            #expect(effect.mustProduce && desk.bucket.inFlight == 0)
            #expect(desk.position(of: Self.pair) == 0 && desk.unfinishedCount == 1)
            desk.acknowledge(call, isWritten: isWritten, at: Self.due, using: &random)
            #expect(desk.position(of: Self.pair) == (isWritten ? 1 : 0))
            let again = self.call(desk.next(at: Self.due.after(milliseconds: 2_000)))
            #expect((again != nil) == !isWritten)
        }
    }

    @Test(
        arguments: [
            (CallOutcome.early, true), (.absent, true), (.invalid(.empty), true), (.notGenuine(.notLater), true),
            (.refused(.badPayload), true), (.unexpected, true), (.throttled, false), (.unavailable, false),
            (.timedOut, false), (.transport, false), (.unauthorized, false),
        ]
    )
    mutating func `an answer ends a visit or keeps it`(outcome: CallOutcome, isDone: Bool) throws {
        var desk = desk()
        desk.append(Sample.record(0, Sample.attest(0)), to: Self.pair)
        let call = try present(call(desk.next(at: Self.due)))
        #expect(!desk.end(call, outcome, at: Self.due, using: &random).mustProduce)
        #expect(desk.position(of: Self.pair) == (isDone ? 1 : 0))
        #expect(desk.unfinishedCount == (isDone ? 0 : 1))
    }

    @Test mutating func `a first answer 401 has one try with a fresh token, three receipts open the breaker`() throws {
        var desk = desk()
        for offset in 0..<3 as Range<Int64> { desk.append(Sample.record(offset, Sample.attest(0)), to: Self.pair) }
        let first = try present(call(desk.next(at: Self.due)))
        #expect(desk.end(first, .unauthorized, at: Self.due, using: &random).breaker == nil)
        let soon = Self.due.after(milliseconds: 4)
        for offset in 0..<3 as Range<Int64> {
            let time = Self.due.after(milliseconds: 2 + offset)
            let call = try present(call(desk.next(at: time)))
            #expect(call.visit.offset == offset && call.grant != first.grant)
            let effect = desk.end(call, .unauthorized, at: time, using: &random)
            #expect(effect.breaker == (offset == 2 ? .opened(.unauthorized) : nil))
        }
        let probe = soon.after(milliseconds: CallBreaker.probeMilliseconds)
        guard case .wait(let until?) = desk.next(at: soon.after(milliseconds: 5_000)) else {
            Issue.record("a call goes out although the breaker is open")
            return
        }
        // The receipts that were refused wait no longer than the breaker does.
        #expect(until == probe.after(milliseconds: -2))
        #expect(desk.lag(of: .first, at: soon.after(milliseconds: 5_000)) == 5_004, "what is kept has been due since")
        #expect(call(desk.next(at: until)) == nil)
        let third = try present(call(desk.next(at: probe)))
        #expect(desk.end(third, .early, at: probe, using: &random).breaker == .closed)
        #expect(answerAll(&desk, .early, at: probe.after(milliseconds: 1)).count == 2)
        #expect(desk.position(of: Self.pair) == 3)
    }

    @Test mutating func `after a reload the next call is made at once`() throws {
        var desk = desk()
        for offset in 0..<3 as Range<Int64> { desk.append(Sample.record(offset, Sample.attest(0)), to: Self.pair) }
        let effects = answerAll(&desk, .unauthorized, at: Self.due)
        #expect(effects.count == 4 && effects.last?.breaker == .opened(.unauthorized))
        let later = Self.due.after(milliseconds: 5_000)
        #expect(call(desk.next(at: later)) == nil)
        let other = try #require(ProviderKey(team: "ABCDE12345", kid: "N", key: try SigningKey.generate(.p256)))
        desk.reload([other], at: later)
        #expect(call(desk.next(at: later)) != nil)
    }

    @Test mutating func `an open breaker stops its account alone`() {
        var desk = desk()
        for offset in 0..<40 as Range<Int64> {
            let account = offset.isMultiple(of: 2) ? Sample.account : Sample.other
            desk.append(Sample.record(offset, Sample.attest(0), account), to: Self.pair)
        }
        var (outcomes, now) = ([Environment: Int](), Self.due)
        while case .call(let call) = desk.next(at: now) {
            outcomes[call.account.environment, default: 0] += 1
            let isFine = call.account == Sample.other
            _ = desk.end(call, isFine ? .absent : .refused(.badPayload), at: now, using: &random)
            now = now.after(milliseconds: 1)
        }
        #expect(outcomes == [.production: 10, .development: 20])
        #expect(desk.position(of: Self.pair) == 20)
        #expect(desk.breakers[Sample.account]?.isOpen == true && desk.breakers[Sample.other] == nil)
    }

    @Test mutating func `a breaker that closes brings all visits of its account back`() throws {
        var desk = desk()
        for offset in 0..<30 as Range<Int64> { desk.append(Sample.record(offset, Sample.attest(0)), to: Self.pair) }
        let effects = answerAll(&desk, .unexpected, at: Self.due)
        #expect(effects.count == 10 && effects.last?.breaker == .opened(.answer))
        let probe = Self.due.after(milliseconds: CallBreaker.probeMilliseconds + 500)
        let call = try present(call(desk.next(at: probe)))
        #expect(self.call(desk.next(at: probe.after(milliseconds: 5))) == nil)
        #expect(desk.end(call, .verified(.accepted), at: probe, using: &random).breaker == .closed)
        #expect(answerAll(&desk, .absent, at: probe.after(milliseconds: 6)).count == 19)
    }

    @Test mutating func `an answer 429 lowers the rate, and Retry-After stops its environment`() throws {
        var desk = desk(callsPerSecond: 100)
        for offset in 0..<3 as Range<Int64> { desk.append(Sample.record(offset, Sample.attest(0)), to: Self.pair) }
        let call = try present(call(desk.next(at: Self.due)))
        let effect = desk.end(call, .throttled, retryAfterMilliseconds: 9_000, at: Self.due, using: &random)
        #expect(effect.hasLoweredRate && desk.bucket.rate(in: .production) == 50)
        #expect(desk.next(at: Self.due.after(milliseconds: 10)) == .wait(until: Self.due.after(milliseconds: 9_000)))
        #expect(self.call(desk.next(at: Self.due.after(milliseconds: 9_000))) != nil)
    }

    @Test mutating func `a Retry-After of an answer that is no pressure is not heard`() throws {
        var desk = desk(callsPerSecond: 100)
        for offset in 0..<2 as Range<Int64> { desk.append(Sample.record(offset, Sample.attest(0)), to: Self.pair) }
        let call = try present(call(desk.next(at: Self.due)))
        _ = desk.end(call, .unexpected, retryAfterMilliseconds: 9_000, at: Self.due, using: &random)
        #expect(self.call(desk.next(at: Self.due.after(milliseconds: 10))) != nil)
    }

    @Test mutating func `an answer after a revocation moves no position`() throws {
        var desk = desk()
        desk.append(Sample.record(0, Sample.attest(0)), to: Self.pair)
        let call = try present(call(desk.next(at: Self.due)))
        desk.revoke(Self.pair)
        #expect(desk.position(of: Self.pair) == nil && desk.room(of: Self.pair) == 0)
        desk.append(Sample.record(1, Sample.attest(0)), to: Self.pair)
        desk.assign(Self.pair, from: 0)
        desk.append(Sample.record(0, Sample.attest(0)), to: Self.pair)
        let again = try present(self.call(desk.next(at: Self.due.after(milliseconds: 1))))
        _ = desk.end(call, .absent, at: Self.due.after(milliseconds: 1), using: &random)
        #expect(desk.position(of: Self.pair) == 0 && desk.bucket.inFlight == 1)
        _ = desk.end(again, .absent, at: Self.due.after(milliseconds: 1), using: &random)
        #expect(desk.position(of: Self.pair) == 1 && desk.bucket.inFlight == 0)
    }

    @Test func `of two partitions the one that has been due longer goes first`() {
        var desk = desk(partitions: 2)
        desk.append(Sample.record(0, Sample.attest(5)), to: LinePair(line: .first, partition: 0))
        desk.append(Sample.record(0, Sample.attest(4)), to: LinePair(line: .first, partition: 1))
        let late = Self.due.after(milliseconds: 50)
        #expect(desk.lag(of: .first, at: late) == 46 && desk.lag(of: .again, at: late) == nil)
        #expect(call(desk.next(at: late))?.pair.partition == 1)
        #expect(call(desk.next(at: late.after(milliseconds: 1)))?.pair.partition == 0)
        #expect(desk.lag(of: .first, at: late) == 46, "a visit under way has not ended")
    }

    @Test mutating func `lines with a backlog share the calls`() {
        var desk = desk()
        for line in ReceiptLine.allCases {
            for offset in 0..<60 as Range<Int64> {
                desk.append(Sample.record(offset, Sample.attest(0)), to: LinePair(line: line, partition: 0))
            }
        }
        var (counts, now) = ([0, 0, 0], Sample.at(40 * Milliseconds.day))
        for _ in 0..<50 {
            guard case .call(let call) = desk.next(at: now) else { break }
            counts[call.pair.line.rawValue] += 1
            _ = desk.end(call, .absent, at: now, using: &random)
            now = now.after(milliseconds: 1)
        }
        #expect(counts == [30, 10, 10])
    }

    @Test mutating func `while the clock is wrong one call in 15 minutes asks for the time`() throws {
        var desk = desk()
        for offset in 0..<4 as Range<Int64> { desk.append(Sample.record(offset, Sample.attest(0)), to: Self.pair) }
        let far = ServerClock.mostMilliseconds + 1_000
        var now = Self.due
        for _ in 0..<2 {
            let call = try present(call(desk.next(at: now)))
            let apple = now.after(milliseconds: far)
            _ = desk.end(call, .early, serverTime: apple, at: now, using: &random)
            #expect(!desk.clock.isReady)
            let probe = now.after(milliseconds: ServerClock.probeMilliseconds)
            #expect(desk.next(at: now.after(milliseconds: 1)) == .wait(until: probe))
            now = probe
        }
        let call = try present(call(desk.next(at: now)))
        #expect(self.call(desk.next(at: now.after(milliseconds: 1))) == nil)
        _ = desk.end(call, .early, serverTime: now, at: now, using: &random)
        #expect(desk.clock.isReady)
        #expect(self.call(desk.next(at: now.after(milliseconds: 1))) != nil)
    }

    @Test func `a team without a key has its visits kept`() {
        var desk = desk()
        let account = CallAccount(team: "FGHIJ67890", environment: .production)
        desk.append(Sample.record(0, Sample.attest(0), account), to: Self.pair)
        desk.append(Sample.record(1, Sample.attest(0)), to: Self.pair)
        #expect(call(desk.next(at: Self.due))?.visit.offset == 1)
        #expect(desk.unfinishedCount == 2)
    }
}
