internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import RiskKit
internal import Testing

@testable internal import Risk

@Suite("A driver after a reload")
struct RefreshReloadTests {
    private static let pair = LinePair(line: .first, partition: 0)
    private static let due = Sample.at(Milliseconds.minute)
    private static let (one, two) = (FakeReceipts.teams[0], FakeReceipts.teams[1])
    private static let other = "projects/1/apps/1:1:ios:2"

    private var random = SeededRandom(seed: 4)
    private let key: SigningKey
    private var driver: RefreshDriver

    init() throws {
        key = try SigningKey.generate(.p256)
        let keys = Self.keys(key, [Self.one: [Self.one], Self.two: [Self.two]])
        var settings = RefreshDriver.Settings(partitions: 1, keys: keys, apps: [FakeReceipts.app, Self.other])
        settings.callsPerSecond = 1_000
        driver = RefreshDriver(settings, judge: FakeReceipts())
        for line in ReceiptLine.allCases { driver.assign(LinePair(line: line, partition: 0)) }
    }

    /// - Parameter prefixes: by team.
    private static func keys(_ key: SigningKey, _ prefixes: [String: Set<String>], kid: String = "K") -> [ProviderKey] {
        prefixes.compactMap { ProviderKey(team: $0, kid: kid, key: key, appIDPrefixes: $1) }
    }

    /// - Parameter key: an even one is of the first team.
    private static func record(_ offset: Int64, key: Int = 2, app: String = FakeReceipts.app) -> ReceiptRecord {
        let receipt = SimulatedReceipt(key: key, dates: Sample.attest(0), attestation: 1)
        return FakeReceipts.record(receipt, offset: offset, app: app)
    }

    private mutating func read(_ records: [ReceiptRecord]) {
        for record in records { driver.take(record, of: Self.pair, at: Sample.start) }
    }

    /// - Parameter prefixes: by team; nil = as before.
    private mutating func reload(_ prefixes: [String: Set<String>]? = nil, apps: Set<String>? = nil) {
        driver.reload(
            keys: Self.keys(key, prefixes ?? [Self.one: [Self.one], Self.two: [Self.two]]),
            apps: apps ?? [FakeReceipts.app, Self.other],
            callsPerSecond: 1_000,
            at: Self.due
        )
    }

    /// The partition's flow: where it is read on.
    private mutating func resumed() -> Int64? { driver.takeFlow(of: .first).resume.first?.from }

    private mutating func call(_ milliseconds: Int64 = 0) -> DueCall? {
        if case .call(let call) = driver.next(at: Self.due.after(milliseconds: milliseconds)) { call } else { nil }
    }

    private mutating func end(_ call: DueCall, _ status: Int) {
        _ = driver.end(call.number, .answered(Sample.answer(status, at: Self.due)), at: Self.due, using: &random)
    }

    @Test mutating func `receipts of an app that it switches off are passed, those of others are called for`() {
        let records = [Self.record(0, app: Self.other), Self.record(1)]
        read(records)
        reload(apps: [FakeReceipts.app])
        let flow = driver.takeFlow(of: .first)
        #expect(flow.pause == [0] && flow.resume.map(\.from) == [0])
        read(records)
        #expect(call()?.call.visit.offset == 1)
        #expect(call(10) == nil && driver.takeNotices().isEmpty)
        #expect(driver.takePositions(of: .first).map(\.position) == [1])
    }

    @Test mutating func `receipts that no key speaks for any more are passed and told, others are called for`() {
        let records = [Self.record(0, key: 3), Self.record(1), Self.record(2, key: 5)]
        read(records)
        reload([Self.one: [Self.one]])
        #expect(resumed() == 0)
        read(records)
        let call = call()
        #expect(call?.call.visit.offset == 1 && call?.call.account.team == Self.one)
        #expect(self.call(10) == nil)
        #expect(driver.takeNotices() == [.unserved(prefix: Self.two)])
    }

    @Test mutating func `receipts follow their prefix to another team`() {
        read([Self.record(0, key: 3)])
        reload([Self.one: [Self.one, Self.two]])
        #expect(resumed() == 0)
        read([Self.record(0, key: 3)])
        let call = call()
        #expect(call?.call.account.team == Self.one && call?.call.grant.team == Self.one)
    }

    @Test mutating func `a call that is under way is waited for, and its visit is not made twice`() throws {
        read([Self.record(0)])
        let call = try present(call())
        reload(apps: [FakeReceipts.app])
        let flow = driver.takeFlow(of: .first)
        #expect(flow.pause == [0] && flow.resume.isEmpty)
        read([Self.record(0)])
        #expect(self.call(10) == nil)
        let reply = CallReply.answered(FakeReceipts.answer(createdAt: Self.due))
        #expect(driver.end(call.number, reply, at: Self.due, using: &random) != nil)
        #expect(resumed() == nil && driver.takePositions(of: .first).isEmpty)
        driver.acknowledge(call.number, isWritten: true, at: Self.due, using: &random)
        #expect(resumed() == 0)
        read([Self.record(0)])
        #expect(self.call(10) == nil && driver.takePositions(of: .first).map(\.position) == [1])
        #expect(driver.counts.calls == [RefreshCounts.Kind(.production, "verified"): 1] && driver.heldBytes == 0)
    }

    @Test(arguments: [true, false])
    mutating func `a call that is under way and not final is made again`(isAnswered: Bool) throws {
        read([Self.record(0)])
        let call = try present(call())
        reload(apps: [FakeReceipts.app])
        let reply = isAnswered ? CallReply.answered(FakeReceipts.answer(createdAt: Self.due)) : .timedOut
        _ = driver.end(call.number, reply, at: Self.due, using: &random)
        driver.acknowledge(call.number, isWritten: false, at: Self.due, using: &random)
        #expect(resumed() == 0)
        read([Self.record(0)])
        #expect(driver.takePositions(of: .first).isEmpty)
        #expect(self.call(10)?.receipt == call.receipt)
    }

    @Test(arguments: [401, 404, 429, 503, 600])
    mutating func `an answer for a team that is gone counts, and opens no breaker that is shown`(status: Int) throws {
        read([Self.record(0, key: 3)])
        let call = try present(call())
        let rate = driver.desk.bucket.rate(in: .production)
        reload([Self.one: [Self.one]])
        end(call, status)
        let figures = driver.figures(at: Self.due)
        #expect(figures.counts.calls.values.reduce(0, +) == 1 && driver.openCount == 0)
        #expect(figures.breakers.isEmpty && figures.inFlight[.production] == 0)
        #expect((driver.desk.bucket.rate(in: .production) < rate) == (status == 429))
    }

    @Test mutating func `breakers of a team without a key are forgotten, others ask at once`() throws {
        read([Self.record(0, key: 3), Self.record(1, key: 3), Self.record(2, key: 3)])
        // The first one is tried with another token, too.
        for milliseconds in [10, 20, 30, 40] as [Int64] { end(try present(call(milliseconds)), 401) }
        let account = CallAccount(team: Self.two, environment: .production)
        #expect(driver.figures(at: Self.due).breakers == [account: true] && call(50) == nil)
        reload()
        #expect(driver.desk.breakers[account] != nil && call(60) != nil)
        reload([Self.one: [Self.one]])
        #expect(driver.desk.breakers.isEmpty)
    }

    @Test mutating func `another key or rate, and what was not read yet, is no reason to read again`() throws {
        let keys = Self.keys(try SigningKey.generate(.p256), [Self.one: [Self.one], Self.two: [Self.two]], kid: "L")
        read([Self.record(0)])
        driver.reload(keys: keys, apps: [FakeReceipts.app, Self.other], callsPerSecond: 500, at: Self.due)
        #expect(driver.takeFlow(of: .first).pause.isEmpty && driver.heldBytes > 0)
        #expect(call()?.call.visit.offset == 0)
        reload(apps: [])
        for line in [ReceiptLine.again, .late] {
            let flow = driver.takeFlow(of: line)
            #expect(flow.pause.isEmpty && flow.resume.isEmpty)
        }
        #expect(driver.takeFlow(of: .first).pause == [0])
    }

    @Test mutating func `what has ended behind a visit that waits is not called for again`() throws {
        let records = (0..<3).map { Self.record($0) }
        read(records)
        let calls = try (0..<3).map { try present(call($0 * 10)) }
        for (call, status) in zip(calls, [503, 404, 404]) { end(call, status) }
        reload(apps: [FakeReceipts.app])
        #expect(resumed() == 0)
        read(records)
        let again = try present(call(40))
        #expect(again.call.visit.offset == 0 && call(60) == nil)
        end(again, 404)
        #expect(driver.takePositions(of: .first).map(\.position) == [3])
    }

    @Test mutating func `two reloads before the partition is sought are as one`() {
        read([Self.record(0)])
        reload(apps: [])
        reload(apps: [FakeReceipts.app])
        let flow = driver.takeFlow(of: .first)
        #expect(flow.pause == [0] && flow.resume.map(\.from) == [0])
        read([Self.record(0)])
        #expect(call()?.call.visit.offset == 0)
    }

    @Test mutating func `a revocation ends the wait for the calls of the reading before`() throws {
        read([Self.record(0)])
        let call = try present(call())
        reload(apps: [FakeReceipts.app])
        driver.revoke(Self.pair)
        driver.assign(Self.pair)
        read([Self.record(0)])
        end(call, 404)
        #expect(self.call(10)?.call.visit.offset == 0 && driver.heldBytes > 0)
    }
}
