internal import AppAttest
internal import Testing

@testable internal import Risk

/// Values that several suites use.
enum Sample {
    /// 2023-11-14 22:13:20.
    static let start = EvaluationTime(milliseconds: 1_700_000_000_000)
    /// When the first line exchanges a receipt that was created then.
    static let due = at(Milliseconds.minute)
    static let account = CallAccount(team: "ABCDE12345", environment: .production)
    static let other = CallAccount(team: "ABCDE12345", environment: .development)

    static func at(_ milliseconds: Int64) -> EvaluationTime { start.after(milliseconds: milliseconds) }

    /// An ATTEST receipt that was created so long after the start.
    static func attest(_ milliseconds: Int64) -> ReceiptDates {
        ReceiptDates(type: .attest, createdAt: at(milliseconds))
    }
}

/// What a mutating call gives: the macro's own expansion takes no such call.
func present<Value>(_ value: Value?, sourceLocation: SourceLocation = #_sourceLocation) throws -> Value {
    try #require(value, sourceLocation: sourceLocation)
}
