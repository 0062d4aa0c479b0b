package import AppAttest
internal import JSON
package import Risk

/// Receipts of the simulated topic as records: their creation and filling bytes, of one of two teams.
package struct FakeReceipts: ReceiptJudge {
    package static let teams = ["ABCDE12345", "FGHIJ67890"]
    package static let app = "projects/1/apps/1:1:ios:1"

    package init() {}

    package static func environment(of key: Int) -> Environment {
        key.isMultiple(of: 7) ? .development : .production
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
        let value = [UInt8(receipt.key % 2)] + numbers(UInt64(receipt.dates.createdAt.milliseconds))
        let filling = [UInt8](repeating: 7, count: max(0, bytes - value.count))
        return ReceiptRecord(offset: offset, key: Base64.encode(keyID), value: value + filling, headers: headers)
    }

    /// 200 with a receipt that was created then.
    package static func answer(createdAt: EvaluationTime) -> ReceiptAnswer {
        let body = Base64.encode(numbers(UInt64(createdAt.milliseconds)))
        return ReceiptAnswer(status: 200, headers: [], body: body, at: createdAt)
    }

    package func summary(of receipt: [UInt8]) -> ReceiptSummary? {
        guard receipt.count > 9 else { return nil }
        let createdAt = receipt[1..<9].reduce(0) { $0 << 8 | Int64($1) }
        return ReceiptSummary(
            appID: Self.teams[Int(receipt[0]) % 2] + ".com.example",
            expiresAt: EvaluationTime(milliseconds: createdAt).after(milliseconds: 90 * Milliseconds.day)
        )
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
