internal import AppAttest
internal import Crypto
internal import RiskKit
internal import Testing

@testable internal import Risk

@Suite("A driver after a reload")
struct RefreshReloadTests: DriverSuite {
    private static let (one, two) = (FakeReceipts.teams[0], FakeReceipts.teams[1])
    private static let other = "projects/1/apps/1:1:ios:2"

    private let key: SigningKey
    var driver: RefreshDriver
    var now = Sample.due

    init() throws {
        key = try SigningKey.generate(.p256)
        driver = try Self.driver(apps: [])
        reload()
    }

    /// - Parameter prefixes: by team.
    private mutating func reload(
        _ prefixes: [String: Set<String>] = [one: [one], two: [two]],
        apps: Set<String> = [FakeReceipts.app, other]
    ) {
        let keys = prefixes.compactMap { ProviderKey(team: $0, kid: "K", key: key, appIDPrefixes: $1) }
        driver.reload(RefreshRules(keys: keys, apps: apps, callsPerSecond: 1_000), at: now)
    }

    @Test mutating func `receipts of an app that it switches off are passed, those of others are called for`() {
        read(0..<1, app: Self.other)
        read(1..<2)
        reload(apps: [FakeReceipts.app])
        #expect(call()?.offset == 1)
        #expect(call() == nil && driver.takeNotices().isEmpty)
        #expect(positions() == [1])
    }

    @Test mutating func `what was passed while an app was off stays so, what comes afterwards is called for`() {
        reload(apps: [])
        read(0..<1)
        #expect(call() == nil)
        reload()
        #expect(driver.takeFlow(of: .first).pause.isEmpty && call() == nil)
        read(1..<2)
        #expect(call()?.offset == 1)
    }

    @Test mutating func `receipts that no key speaks for any more are passed, later ones are told`() {
        read(0..<1, key: 3)
        read(1..<2)
        reload([Self.one: [Self.one]])
        read(2..<3, key: 5)
        let call = call()
        #expect(call?.offset == 1 && call?.account.team == Self.one)
        #expect(self.call() == nil)
        #expect(driver.takeNotices() == [.unserved(prefix: Self.two)])
    }

    @Test mutating func `receipts follow their prefix to another team, also after a call that failed`() throws {
        read(0..<2, key: 3)
        let open = try present(call())
        reload([Self.one: [Self.one, Self.two]])
        let call = call()
        #expect(call?.offset == 1 && call?.account.team == Self.one && call?.grant.team == Self.one)
        end(open, 503)
        now = now.after(milliseconds: ReceiptQueue.pauses[0])
        let again = self.call()
        #expect(again?.offset == 0 && again?.grant.team == Self.one)
    }

    @Test(arguments: [true, false])
    mutating func `an answer to a call of before counts, also of an app that is off`(isOff: Bool) throws {
        read(0..<1)
        let call = try present(call())
        if isOff { reload(apps: []) } else { reload() }
        #expect(verify(call) != nil)
        acknowledge(call)
        #expect(self.call() == nil && positions() == [1])
        let kind = RefreshCounts.Kind(environment: .production, outcome: "verified")
        #expect(driver.counts.calls == [kind: 1] && driver.openCount == 0)
    }

    @Test(arguments: [401, 404, 429, 503, 600])
    mutating func `an answer for a team that is gone counts, and opens no breaker that is shown`(status: Int) throws {
        read(0..<1, key: 3)
        let call = try present(call())
        let rate = driver.bucket.rate(in: .production)
        reload([Self.one: [Self.one]])
        end(call, status)
        let figures = driver.figures(at: now)
        #expect(figures.counts.calls.values.reduce(0, +) == 1 && driver.openCount == 0)
        #expect(figures.breakers.isEmpty && figures.inFlight[.production] == 0)
        #expect((driver.bucket.rate(in: .production) < rate) == (status == 429))
    }

    @Test mutating func `breakers of a team without a key are forgotten, others ask at once`() throws {
        read(0..<12, key: 3)
        // The first one is tried with another token, too.
        for _ in 1...11 { end(try present(call()), 401) }
        let account = CallAccount(team: Self.two, environment: .production)
        #expect(driver.figures(at: now).breakers == [account: true] && call() == nil)
        reload()
        #expect(driver.breakers[account] != nil && call() != nil && call() == nil)
        reload([Self.one: [Self.one]])
        #expect(driver.breakers.isEmpty)
    }
}
