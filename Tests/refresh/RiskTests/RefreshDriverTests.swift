internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import JSON
internal import RiskKit
internal import Testing

@testable internal import Risk

@Suite("The driver")
struct RefreshDriverTests {
    private static let pair = LinePair(line: .first, partition: 0)
    private static let due = Sample.at(Milliseconds.minute)

    private let keys: [ProviderKey]

    init() throws {
        let key = try SigningKey.generate(.p256)
        keys = FakeReceipts.teams.compactMap { ProviderKey(team: $0, kid: "K", key: key) }
    }

    private func driver(apps: Set<String> = [FakeReceipts.app]) -> RefreshDriver {
        var settings = RefreshDriver.Settings(partitions: 1, keys: keys, apps: apps)
        settings.callsPerSecond = 1_000
        var driver = RefreshDriver(settings, judge: FakeReceipts())
        for line in ReceiptLine.allCases { driver.assign(LinePair(line: line, partition: 0)) }
        return driver
    }

    private func record(_ offset: Int64 = 0, key: Int = 2) -> ReceiptRecord {
        let dates = Sample.attest(0)
        return FakeReceipts.record(SimulatedReceipt(key: key, dates: dates, attestation: 1), offset: offset)
    }

    private func call(_ step: RefreshStep) -> ReceiptCall? { if case .call(let call) = step { call } else { nil } }

    private func answer(createdAt: EvaluationTime) -> CallReply {
        .answered(FakeReceipts.answer(createdAt: createdAt))
    }

    @Test mutating func `a verified answer becomes a request on the receipt's partition, then the position moves`()
        throws
    {
        var driver = driver()
        driver.take(record(), of: Self.pair, at: Sample.start)
        let call = try present(call(driver.next(at: Self.due)))
        #expect(call.receipt.bytes == record().value && call.environment == .production)
        let request = try present(driver.end(call.number, answer(createdAt: Self.due), at: Self.due))
        #expect(request.partition == 0 && request.key == record().key && request.requestID.count == 64)
        let json = try JSONDocument(parsing: request.value).root
        #expect(json["path"]?.string == "v1/\(FakeReceipts.app):verifyReceipt")
        #expect(json["body"]?["exchanged"]?.integer == Sample.start.milliseconds)
        #expect(driver.takePositions(of: .first).isEmpty && driver.bucket.inFlight == 0)
        driver.acknowledge(call.number, isWritten: true, at: Self.due)
        #expect(driver.takePositions(of: .first).map(\.position) == [1])
        #expect(driver.openCount == 0)
        #expect(driver.takePositions(of: .first).isEmpty)
        driver.commitFailed([0], of: .first)
        #expect(driver.takePositions(of: .first).map(\.position) == [1])
    }

    @Test mutating func `a receipt whose request is not written is exchanged again`() throws {
        var driver = driver()
        driver.take(record(), of: Self.pair, at: Sample.start)
        let call = try present(call(driver.next(at: Self.due)))
        _ = driver.end(call.number, answer(createdAt: Self.due), at: Self.due)
        driver.acknowledge(call.number, isWritten: false, at: Self.due)
        #expect(driver.takePositions(of: .first).isEmpty)
        let again = try present(self.call(driver.next(at: Self.due.after(milliseconds: Milliseconds.minute))))
        #expect(again.receipt == call.receipt && again.number != call.number)
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
        var driver = driver()
        var bad = record()
        bad.headers.removeAll { $0.name == Array(name.utf8) }
        bad.headers.append((Array(name.utf8), value))
        driver.take(bad, of: Self.pair, at: Sample.start)
        driver.take(record(1), of: Self.pair, at: Sample.start)
        #expect(driver.takeNotices().count == (isTold ? 1 : 0))
        let call = try present(call(driver.next(at: Self.due)))
        #expect(call.offset == 1)
        #expect(driver.takePositions(of: .first).map(\.position) == [1])
    }

    @Test mutating func `tombstones, other keys and values that are no receipt are passed`() throws {
        var driver = driver()
        var records = (0..<5).map { record(Int64($0)) }
        records[0].value = nil
        records[1].key = nil
        records[2].key = Array("short".utf8)
        records[3].value = [1, 2, 3]
        records[4].value = [UInt8](repeating: 0, count: HeldReceipt.mostBytes + 1)
        for record in records { driver.take(record, of: Self.pair, at: Sample.start) }
        #expect(driver.next(at: Self.due) == .wait(until: nil))
        #expect(driver.takePositions(of: .first).map(\.position) == [5])
        // One a minute.
        #expect(driver.takeNotices() == [.unreadable(Self.pair, offset: 1)])
    }

    @Test mutating func `no header makes a call earlier than the receipt's own Not Before`() throws {
        var driver = driver()
        let pair = LinePair(line: .again, partition: 0)
        var dates = Sample.attest(0)
        dates.notBefore = Sample.at(20 * Milliseconds.day)
        var record = FakeReceipts.record(SimulatedReceipt(key: 2, dates: dates, attestation: 1), offset: 0)
        record.headers.removeAll { $0.name == Array("not-before".utf8) }
        driver.take(record, of: pair, at: Sample.start)
        let due = Sample.at(20 * Milliseconds.day + ReceiptLine.marginMilliseconds)
        #expect(driver.next(at: Sample.at(7 * Milliseconds.day)) == .wait(until: due))
        #expect(call(driver.next(at: due)) != nil)
    }

    @Test mutating func `a partition without room is paused, and is read on from where it was left`() throws {
        var driver = driver()
        let most = 64
        for offset in 0..<Int64(most + 10) { driver.take(record(offset), of: Self.pair, at: Sample.start) }
        #expect(driver.takeFlow(of: .first).pause == [0])
        #expect(driver.takeFlow(of: .first).pause == [] && driver.takeFlow(of: .again).pause == [])
        for ended in 1...most / 2 {
            let time = Self.due.after(milliseconds: Int64(ended) * 10)
            let call = try present(call(driver.next(at: time)))
            _ = driver.end(call.number, .answered(Sample.answer(404, at: time)), at: time)
            let flow = driver.takeFlow(of: .first)
            #expect(flow.resume.map(\.from) == (ended == most / 2 ? [Int64(most)] : []))
            #expect(flow.pause.isEmpty)
        }
        #expect(driver.takePositions(of: .first).map(\.position) == [Int64(most / 2)])
    }

    @Test mutating func `a record that was dropped is read again, whatever has room by then`() throws {
        var driver = driver()
        for offset in 0..<Int64(66) { driver.take(record(offset), of: Self.pair, at: Sample.start) }
        let call = try present(call(driver.next(at: Self.due)))
        _ = driver.end(call.number, .answered(Sample.answer(404, at: Self.due)), at: Self.due)
        driver.take(record(66), of: Self.pair, at: Self.due)
        #expect(driver.takeFlow(of: .first).pause == [0])
        var (time, resumed) = (Self.due, [Int64]())
        while resumed.isEmpty {
            time = time.after(milliseconds: 5)
            let next = try present(self.call(driver.next(at: time)))
            _ = driver.end(next.number, .answered(Sample.answer(404, at: time)), at: time)
            resumed = driver.takeFlow(of: .first).resume.map(\.from)
        }
        #expect(resumed == [64])
    }

    @Test mutating func `answers and reports that nobody waits for change nothing`() throws {
        var driver = driver()
        driver.take(record(), of: Self.pair, at: Sample.start)
        let call = try present(call(driver.next(at: Self.due)))
        driver.acknowledge(call.number, isWritten: true, at: Self.due)
        #expect(driver.end(call.number + 1, .timedOut, at: Self.due) == nil)
        #expect(driver.openCount == 1)
        driver.revoke(Self.pair)
        driver.assign(Self.pair)
        driver.take(record(), of: Self.pair, at: Self.due)
        // What Apple has answered is written, although the receipt is another reading's now.
        #expect(driver.end(call.number, answer(createdAt: Self.due), at: Self.due) != nil)
        driver.acknowledge(call.number, isWritten: true, at: Self.due)
        #expect(driver.openCount == 0 && driver.takePositions(of: .first).isEmpty)
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
