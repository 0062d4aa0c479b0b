package import AppAttest
internal import Crypto
internal import JSON
package import Risk
package import Streams

/// Receipts of the simulated topic as records: team, type, environment, creation, Not Before and filling bytes.
package struct FakeReceipts: ReceiptJudge {
    package static let teams = ["ABCDE12345", "FGHIJ67890"]
    package static let app = "projects/1/apps/1:1:ios:1"

    private static let types = ReceiptType.allCases
    private static let environments = Environment.allCases

    package init() {}

    package static func environment(of key: Int) -> Environment {
        key.isMultiple(of: 7) ? .development : .production
    }

    /// Rules with a key of each team.
    package static func rules(callsPerSecond: Double = 1_000, apps: Set<String> = [app]) throws -> RefreshRules {
        let key = try SigningKey.generate(.p256)
        let keys = teams.compactMap { ProviderKey(team: $0, kid: "K", key: key) }
        return RefreshRules(keys: keys, apps: apps, callsPerSecond: callsPerSecond)
    }

    package static func record(
        _ receipt: SimulatedReceipt,
        offset: Int64,
        bytes: Int = 100,
        app: String = app
    ) -> ReceiptRecord {
        var headers: [(name: [UInt8], value: [UInt8]?)] = []
        func add(_ name: String, _ value: String) { headers.append((Array(name.utf8), Array(value.utf8))) }
        add("app", app)
        add("environment", environment(of: receipt.key).rawValue)
        add("type", receipt.dates.type.rawValue)
        add("created-at", String(receipt.dates.createdAt.milliseconds))
        if let notBefore = receipt.dates.notBefore { add("not-before", String(notBefore.milliseconds)) }
        let keyID = [UInt8](repeating: 0, count: 28) + numbers(UInt64(receipt.key)).suffix(4)
        let value = content(receipt)
        let filling = [UInt8](repeating: 7, count: max(0, bytes - value.count))
        return ReceiptRecord(offset: offset, key: Base64.encode(keyID), value: value + filling, headers: headers)
    }

    private static func content(_ receipt: SimulatedReceipt) -> [UInt8] {
        let type = UInt8(types.firstIndex(of: receipt.dates.type) ?? 0)
        let environment = UInt8(environments.firstIndex(of: environment(of: receipt.key)) ?? 0)
        let times = [receipt.dates.createdAt, receipt.dates.notBefore].map { UInt64($0?.milliseconds ?? 0) }
        return [UInt8(receipt.key % 2), type, environment] + times.flatMap(numbers)
    }

    /// 200 with a receipt that was created then.
    package static func answer(createdAt: EvaluationTime) -> ReceiptAnswer {
        let body = Base64.encode(numbers(UInt64(createdAt.milliseconds)))
        return ReceiptAnswer(status: 200, headers: [], body: body, at: createdAt)
    }

    package func summary(of receipt: [UInt8]) -> ReceiptSummary? {
        guard receipt.count > 18 else { return nil }
        func time(_ range: Range<Int>) -> EvaluationTime {
            EvaluationTime(milliseconds: receipt[range].reduce(0) { $0 << 8 | Int64($1) })
        }
        let (createdAt, notBefore) = (time(3..<11), time(11..<19))
        let dates = ReceiptDates(
            type: Self.types[Int(receipt[1]) % Self.types.count],
            createdAt: createdAt,
            notBefore: notBefore.milliseconds == 0 ? nil : notBefore,
            expiresAt: createdAt.after(milliseconds: 90 * Milliseconds.day)
        )
        let environment = Self.environments[Int(receipt[2]) % Self.environments.count]
        return (Self.teams[Int(receipt[0]) % 2] + ".com.example", environment, dates)
    }

    package func judge(
        _ answer: [UInt8],
        to sent: HeldReceipt,
        at time: EvaluationTime
    ) -> Result<ReceiptVerdict, RefreshRefusal> {
        guard answer.count == 8 else { return .failure(.receipt(.malformed)) }
        let createdAt = answer.reduce(0) { $0 << 8 | Int64($1) }
        return createdAt > sent.dates.createdAt.milliseconds ? .success(.accepted) : .failure(.notLater)
    }

    private static func numbers(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }
    }
}

extension ReceiptRecord {
    /// The record as a consumer gives it.
    package func inbound(partition: Int32) -> InboundRecord {
        InboundRecord(
            topic: "receipts",
            partition: partition,
            offset: offset,
            timestamp: 0,
            key: key,
            value: value,
            headers: headers.map { RecordHeader(name: $0.name, value: $0.value) }
        )
    }
}
