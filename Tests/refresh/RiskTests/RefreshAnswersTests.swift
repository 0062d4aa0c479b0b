internal import AppAttest
internal import RiskKit
internal import Testing

@testable internal import Risk

/// What answers do to the calls that follow: tries, breakers, rates and the clock.
@Suite("A driver after an answer")
struct RefreshAnswersTests: DriverSuite {
    private static let probe = CallBreaker.probeMilliseconds
    private static let production = CallAccount(team: FakeReceipts.teams[0], environment: .production)
    private static let development = CallAccount(team: FakeReceipts.teams[0], environment: .development)
    private static let developmentKey = 14

    var driver: RefreshDriver
    var now = Sample.due

    init() throws { driver = try Self.driver() }

    /// Ends each call that may begin now by this status.
    ///
    /// - Returns: their offsets.
    private mutating func endAll(_ status: Int) -> [Int64] {
        var offsets: [Int64] = []
        while let call = call() {
            offsets.append(call.offset)
            end(call, status)
        }
        return offsets
    }

    private var position: Int64? { driver.queues[0]?.position }

    @Test(arguments: [401, 429, 503])
    mutating func `a receipt whose calls fail five times is skipped, told and counted, the others go on`(
        status: Int
    ) throws {
        read(0..<1)
        for number in 1...5 {
            let call = try present(call())
            #expect(call.offset == 0)
            end(call, status)
            read(Int64(number)..<Int64(number) + 1)
            end(try present(self.call()), 404)
            #expect(position == (number < 5 ? 0 : 6))
            now = now.after(milliseconds: Milliseconds.hour)
        }
        #expect(driver.counts.skipped == [.production: 1] && driver.breakers.isEmpty && call() == nil)
        let outcome = [401: "unauthorized", 429: "throttled", 503: "unavailable"][status] ?? ""
        #expect(driver.takeNotices().contains(.skipped(.first, .production, outcome: outcome)))
    }

    @Test mutating func `an open breaker stops its account alone, and a probe that is answered lets it go on`() throws {
        read(0..<12)
        read(12..<14, key: Self.developmentKey)
        read(14..<40)
        // Calls that are not understood end their exchanges.
        for offset in 0..<10 as Range<Int64> {
            let call = try present(call())
            #expect(call.offset == offset)
            end(call, 202)
        }
        #expect(driver.breakers[Self.production]?.isOpen == true && driver.breakers[Self.development] == nil)
        #expect(endAll(404) == [12, 13] && position == 10)
        now = now.after(milliseconds: Self.probe)
        let probe = try present(call())
        #expect(probe.offset == 39 && call() == nil, "one call alone")
        #expect(verify(probe) != nil && driver.breakers.isEmpty)
        acknowledge(probe)
        #expect(endAll(404).count == 27 && position == 40)
        let notices = driver.takeNotices()
        #expect(notices.contains(.breakerClosed(Self.production)))
    }

    @Test mutating func `while a breaker is open, its probes alone cost their receipt a call`() throws {
        read(0..<60)
        // 64 calls may be in flight: all of these fail, 20 of them in a row before it opens.
        var calls: [ReceiptCall] = []
        while let call = call() { calls.append(call) }
        #expect(calls.count == 60)
        for call in calls { end(call, 503) }
        let failures = { (driver: RefreshDriver) in driver.queues[0]?.failures ?? [] }
        #expect(failures(driver) == Array(repeating: 1, count: 20) + Array(repeating: 0, count: 40))
        // A receipt that always fails is not each probe.
        for probes in 1...40 as ClosedRange<Int64> {
            now = now.after(milliseconds: Self.probe)
            let probe = try present(call())
            #expect(probe.offset == 60 - probes && probe.isProbe && call() == nil)
            end(probe, 503)
        }
        #expect(failures(driver) == Array(repeating: 1, count: 60) && driver.counts.skipped.isEmpty)
        now = now.after(milliseconds: Self.probe)
        end(try present(call()), 404)
        #expect(driver.breakers.isEmpty && endAll(404).count == 59)
    }

    @Test mutating func `a breaker that closes, and a reload, leave the pauses of receipts that have failed`() throws {
        read(0..<25)
        for _ in 0..<20 { end(try present(call()), 503) }
        now = now.after(milliseconds: Self.probe)
        let probe = try present(call())
        #expect(probe.offset == 20)
        end(probe, 503)
        let paused = now.after(milliseconds: ReceiptQueue.pauses[0])
        driver.reload(try FakeReceipts.rules(), at: now)
        end(try present(call()), 404)
        #expect(driver.breakers.isEmpty && endAll(404) == Array(0..<20) + [22, 23, 24])
        now = paused
        #expect(call()?.offset == 20)
    }

    @Test mutating func `of partitions that are equal each has its turn`() throws {
        driver = try Self.driver(partitions: 4)
        for partition in 0..<4 as Range<Int32> { read(0..<9, .first, partition: partition) }
        // A lowered rate holds all of them until one time.
        end(try present(call()), 429)
        var turns: [Int: Int] = [:]
        for _ in 0..<20 {
            guard case .wait(let until?) = driver.next(at: now) else { break }
            now = max(now, until)
            guard case .call(let call) = driver.next(at: now) else { continue }
            turns[Int(call.pair.partition), default: 0] += 1
            end(call, 404)
        }
        #expect(turns.count == 4 && turns.values.allSatisfy { $0 >= 2 }, "\(turns)")
    }

    @Test mutating func `a partition that is read again goes on with the room it has`() throws {
        read(0..<40)
        driver.readAgain(LinePair(line: .first, partition: 0))
        #expect(driver.takeFlow(of: .first).pause == [0])
        #expect(driver.takeFlow(of: .first).resume.map(\.from) == [40], "it is more than half full")
    }

    @Test mutating func `a token that is used up is replaced, and opens no breaker`() throws {
        read(0..<30)
        var calls: [ReceiptCall] = []
        while let call = call() { calls.append(call) }
        for call in calls { end(call, 401) }
        #expect(driver.breakers.isEmpty && position == 0)
        now = now.after(milliseconds: ReceiptQueue.pauses[0])
        let again = try present(call())
        #expect(again.grant != calls[0].grant)
        end(again, 404)
        #expect(endAll(404).count == 29 && driver.counts.skipped.isEmpty)
    }

    @Test mutating func `an answer 429 lowers the rate, and Retry-After stops its environment alone`() throws {
        driver = try Self.driver(callsPerSecond: 100)
        read(0..<3)
        read(3..<4, key: Self.developmentKey)
        end(try present(call()), 429, headers: ["Retry-After": "9"])
        #expect(driver.bucket.rate(in: .production) == 50)
        #expect(driver.takeNotices() == [.rateLowered(.production, 50)])
        let throttled = now
        now = now.after(milliseconds: 20)
        #expect(call()?.offset == 3)
        now = throttled.after(milliseconds: 8_990)
        #expect(call() == nil)
        now = throttled.after(milliseconds: 9_000)
        #expect(call()?.offset == 0)
        _ = driver.next(at: throttled.after(milliseconds: 2 * Milliseconds.hour))
        #expect(driver.takeNotices() == [.rateRestored(.production)])
    }

    @Test mutating func `a Retry-After of an answer that is no pressure changes nothing`() throws {
        read(0..<2)
        end(try present(call()), 202, headers: ["Retry-After": "9"])
        #expect(call() != nil)
    }

    @Test mutating func `a line waits while an earlier one has receipts due, the longest due goes first`() throws {
        driver = try Self.driver(partitions: 2)
        now = Sample.at(40 * Milliseconds.day)
        read(0..<1, .late)
        read(0..<1, .again)
        read(0..<1, .first, partition: 0, createdAt: 5)
        read(0..<1, .first, partition: 1, createdAt: 4)
        #expect(driver.lag(of: .late, at: now) == 10 * Milliseconds.day)
        var order: [LinePair] = []
        while let call = call() { order.append(call.pair) }
        #expect(order.map(\.line) == [.first, .first, .again, .late] && order.map(\.partition).prefix(2) == [1, 0])
        #expect(driver.lag(of: .late, at: now) ?? 0 > 10 * Milliseconds.day, "a call under way has not ended")
        #expect(driver.lag(of: .late, at: Sample.start) == nil)
    }

    @Test mutating func `while the clock is wrong one call in 15 minutes asks for the time`() throws {
        read(0..<4)
        for _ in 0..<2 {
            let call = try present(call())
            end(call, 304, headers: ["Date": "Tue, 14 Nov 2023 23:59:59 GMT"])
            #expect(!driver.clock.isReady && self.call() == nil)
            now = now.after(milliseconds: ServerClock.probeMilliseconds)
        }
        let call = try present(call())
        #expect(self.call() == nil)
        // Half an hour after the first call.
        end(call, 304, headers: ["Date": "Tue, 14 Nov 2023 22:44:20 GMT"])
        #expect(driver.clock.isReady && self.call() != nil)
    }
}

extension ReceiptQueue {
    /// The failed calls of each receipt.
    fileprivate var failures: [Int] { entries.map(\.failures) }
}
