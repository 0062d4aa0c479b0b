internal import AppAttest
internal import JSON
internal import RiskKit
internal import Testing

@testable internal import Risk

@Suite("The driver")
struct RefreshDriverTests: DriverSuite {
    private static let pair = LinePair(line: .first, partition: 0)

    var driver: RefreshDriver
    var now = Sample.due

    init() throws { driver = try Self.driver() }

    @Test mutating func `a verified answer becomes a request on the receipt's partition, then the position moves`()
        throws
    {
        read(0..<1)
        let call = try present(call())
        #expect(call.receipt.bytes == Self.record().value && call.environment == .production)
        let request = try present(verify(call))
        #expect(request.partition == 0 && request.key == Self.record().key && request.requestID.count == 64)
        let json = try JSONDocument(parsing: request.value).root
        #expect(json["path"]?.string == "v1/\(FakeReceipts.app):verifyReceipt")
        #expect(json["body"]?["exchanged"]?.integer == Sample.start.milliseconds)
        #expect(positions() == [] && driver.bucket.inFlight == 0)
        acknowledge(call)
        #expect(positions() == [1] && driver.openCount == 0)
        #expect(positions() == [])
        driver.commitFailed([0], of: .first)
        #expect(positions() == [1])
    }

    /// Each is a record that is otherwise right.
    @Test(
        arguments: [
            ("app", nil, true), ("app", [0xFF], true), ("app", Array("projects/1/apps/2".utf8), false),
            ("environment", nil, true), ("environment", Array("Production".utf8), true),
            ("environment", Array("development".utf8), true), ("type", nil, true),
            ("type", Array("REFRESH".utf8), true), ("created-at", nil, true), ("created-at", Array("soon".utf8), true),
            ("not-before", Array("-1".utf8), true),
        ] as [(String, [UInt8]?, Bool)]
    )
    mutating func `a record that says too little is passed`(name: String, value: [UInt8]?, isTold: Bool) throws {
        var bad = Self.record()
        bad.headers.removeAll { $0.name == Array(name.utf8) }
        bad.headers.append((Array(name.utf8), value))
        driver.take(bad, of: Self.pair, at: Sample.start)
        read(1..<2)
        #expect(driver.takeNotices().count == (isTold ? 1 : 0))
        #expect(call()?.offset == 1)
        #expect(positions() == [1])
    }

    @Test mutating func `tombstones, other keys and values that are no receipt are passed`() {
        var records = (0..<5).map { Self.record(Int64($0)) }
        records[0].value = nil
        records[1].key = nil
        records[2].key = Array("short".utf8)
        records[3].value = [1, 2, 3]
        records[4].value = [UInt8](repeating: 0, count: HeldReceipt.mostBytes + 1)
        for record in records { driver.take(record, of: Self.pair, at: Sample.start) }
        #expect(driver.next(at: now) == .wait(until: nil))
        #expect(positions() == [5])
        // One a minute.
        #expect(driver.takeNotices() == [.unreadable(Self.pair, offset: 1)])
    }

    @Test mutating func `a partition without room is paused, and is read on from where it was left`() throws {
        read(0..<74)
        #expect(driver.takeFlow(of: .first).pause == [0])
        #expect(driver.takeFlow(of: .first).pause == [] && driver.takeFlow(of: .again).pause == [])
        for ended in 1...32 {
            end(try present(call()), 404)
            let flow = driver.takeFlow(of: .first)
            #expect(flow.resume.map(\.from) == (ended == 32 ? [64] : []) && flow.pause.isEmpty)
        }
        #expect(positions() == [32])
    }

    @Test mutating func `answers and reports that nobody waits for change nothing`() throws {
        read(0..<1)
        let call = try present(call())
        acknowledge(call)
        #expect(driver.end(call.number + 1, .timedOut, at: now) == nil)
        #expect(driver.openCount == 1)
        driver.revoke(Self.pair)
        driver.assign(Self.pair)
        read(0..<1)
        // What Apple has answered is written, although the receipt is another reading's now.
        #expect(verify(call) != nil)
        acknowledge(call)
        #expect(driver.openCount == 0 && positions() == [])
    }
}

@Suite("What a refresher tells")
struct NoticeListTests {
    @Test func `one cause is told once a minute, others at once`() {
        var list = NoticeList()
        let (one, other) = (RefreshNotice.clock(offset: 1), RefreshNotice.rateRestored(.production))
        list.add(one, at: Sample.start)
        list.add(.clock(offset: 2), at: Sample.at(59_999))
        list.add(other, at: Sample.at(59_999))
        #expect(list.take() == [one, other] && list.take().isEmpty)
        list.add(.clock(offset: 3), at: Sample.at(60_000))
        #expect(list.take() == [.clock(offset: 3)])
    }
}
