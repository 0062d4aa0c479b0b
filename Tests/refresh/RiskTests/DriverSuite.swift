internal import AppAttest
internal import RiskKit

@testable internal import Risk

/// A suite's driver of the fake app's receipts, which are due a minute after their creation, and the answers to its calls.
protocol DriverSuite {
    var driver: RefreshDriver { get set }
    var now: EvaluationTime { get set }
}

extension DriverSuite {
    static func driver(
        callsPerSecond: Double = 1_000,
        partitions: Int32 = 1,
        apps: Set<String> = [FakeReceipts.app]
    ) throws -> RefreshDriver {
        let rules = try FakeReceipts.rules(callsPerSecond: callsPerSecond, apps: apps)
        var driver = RefreshDriver(rules, partitions: Int(partitions), judge: FakeReceipts())
        for line in ReceiptLine.allCases {
            for partition in 0..<partitions { driver.assign(LinePair(line: line, partition: partition)) }
        }
        return driver
    }

    /// - Parameter key: an even one is of the first team, every seventh is development's.
    static func record(
        _ offset: Int64 = 0,
        key: Int = 2,
        createdAt: Int64 = 0,
        app: String = FakeReceipts.app
    ) -> ReceiptRecord {
        let receipt = SimulatedReceipt(key: key, dates: Sample.attest(createdAt))
        return FakeReceipts.record(receipt, offset: offset, app: app)
    }

    mutating func read(
        _ offsets: Range<Int64>,
        key: Int = 2,
        _ line: ReceiptLine = .first,
        partition: Int32 = 0,
        createdAt: Int64 = 0,
        app: String = FakeReceipts.app
    ) {
        let pair = LinePair(line: line, partition: partition)
        for offset in offsets {
            driver.take(Self.record(offset, key: key, createdAt: createdAt, app: app), of: pair, at: Sample.start)
        }
    }

    /// The call of the next millisecond.
    mutating func call() -> ReceiptCall? {
        now = now.after(milliseconds: 1)
        return if case .call(let call) = driver.next(at: now) { call } else { nil }
    }

    mutating func end(_ call: ReceiptCall, _ status: Int, headers: [String: String] = [:]) {
        let headers = headers.map { (name: $0.key, value: Array($0.value.utf8)) }
        let answer = ReceiptAnswer(status: status, headers: headers, body: [], at: now)
        _ = driver.end(call.number, .answered(answer), at: now)
    }

    /// Ends a call with a new receipt.
    mutating func verify(_ call: ReceiptCall) -> VerifyRequest? {
        driver.end(call.number, .answered(FakeReceipts.answer(createdAt: now)), at: now)
    }

    mutating func acknowledge(_ call: ReceiptCall) { driver.acknowledge(call.number, isWritten: true, at: now) }

    /// The positions of the first line that have moved.
    mutating func positions() -> [Int64] { driver.takePositions(of: .first).map(\.position) }
}
