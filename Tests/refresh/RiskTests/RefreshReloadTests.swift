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

    private mutating func call(_ milliseconds: Int64 = 0) -> ReceiptCall? {
        if case .call(let call) = driver.next(at: Self.due.after(milliseconds: milliseconds)) { call } else { nil }
    }

    private mutating func end(_ call: ReceiptCall, _ status: Int) {
        _ = driver.end(call.number, .answered(Sample.answer(status, at: Self.due)), at: Self.due)
    }

    @Test mutating func `receipts of an app that it switches off are passed, those of others are called for`() {
        read([Self.record(0, app: Self.other), Self.record(1)])
        reload(apps: [FakeReceipts.app])
        #expect(call()?.offset == 1)
        #expect(call(10) == nil && driver.takeNotices().isEmpty)
        #expect(driver.takePositions(of: .first).map(\.position) == [1])
    }

    @Test mutating func `what was passed while an app was off stays so, what comes afterwards is called for`() {
        reload(apps: [])
        read([Self.record(0)])
        #expect(call() == nil)
        reload()
        #expect(driver.takeFlow(of: .first).pause.isEmpty && call(10) == nil)
        read([Self.record(1)])
        #expect(call(20)?.offset == 1)
    }

    @Test mutating func `receipts that no key speaks for any more are passed, later ones are told`() {
        read([Self.record(0, key: 3), Self.record(1)])
        reload([Self.one: [Self.one]])
        read([Self.record(2, key: 5)])
        let call = call()
        #expect(call?.offset == 1 && call?.account.team == Self.one)
        #expect(self.call(10) == nil)
        #expect(driver.takeNotices() == [.unserved(prefix: Self.two)])
    }

    @Test mutating func `receipts follow their prefix to another team, also after a call that failed`() throws {
        read([Self.record(0, key: 3), Self.record(1, key: 3)])
        let open = try present(call())
        reload([Self.one: [Self.one, Self.two]])
        let call = call(10)
        #expect(call?.offset == 1 && call?.account.team == Self.one && call?.grant.team == Self.one)
        end(open, 503)
        let again = self.call(10_000)
        #expect(again?.offset == 0 && again?.grant.team == Self.one)
    }

    @Test(arguments: [true, false])
    mutating func `an answer to a call of before counts, also of an app that is off`(isOff: Bool) throws {
        read([Self.record(0)])
        let call = try present(call())
        reload(apps: isOff ? [] : nil)
        let reply = CallReply.answered(FakeReceipts.answer(createdAt: Self.due))
        #expect(driver.end(call.number, reply, at: Self.due) != nil)
        driver.acknowledge(call.number, isWritten: true, at: Self.due)
        #expect(self.call(10) == nil && driver.takePositions(of: .first).map(\.position) == [1])
        #expect(driver.counts.calls == [RefreshCounts.Kind(.production, "verified"): 1] && driver.openCount == 0)
    }

    @Test(arguments: [401, 404, 429, 503, 600])
    mutating func `an answer for a team that is gone counts, and opens no breaker that is shown`(status: Int) throws {
        read([Self.record(0, key: 3)])
        let call = try present(call())
        let rate = driver.bucket.rate(in: .production)
        reload([Self.one: [Self.one]])
        end(call, status)
        let figures = driver.figures(at: Self.due)
        #expect(figures.counts.calls.values.reduce(0, +) == 1 && driver.openCount == 0)
        #expect(figures.breakers.isEmpty && figures.inFlight[.production] == 0)
        #expect((driver.bucket.rate(in: .production) < rate) == (status == 429))
    }

    @Test mutating func `breakers of a team without a key are forgotten, others ask at once`() throws {
        read((0..<12).map { Self.record($0, key: 3) })
        // The first one is tried with another token, too.
        for number in 1...11 as ClosedRange<Int64> { end(try present(call(10 * number)), 401) }
        let account = CallAccount(team: Self.two, environment: .production)
        #expect(driver.figures(at: Self.due).breakers == [account: true] && call(120) == nil)
        reload()
        #expect(driver.breakers[account] != nil && call(130) != nil && call(140) == nil)
        reload([Self.one: [Self.one]])
        #expect(driver.breakers.isEmpty)
    }
}
