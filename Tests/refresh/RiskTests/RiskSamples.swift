internal import AppAttest
internal import Risk
internal import Testing

/// Values that several suites use.
enum Sample {
    static let start = EvaluationTime(milliseconds: 1_700_000_000_000)
    static let account = CallAccount(team: "ABCDE12345", environment: .production)
    static let other = CallAccount(team: "ABCDE12345", environment: .development)

    static func at(_ milliseconds: Int64) -> EvaluationTime { start.after(milliseconds: milliseconds) }

    /// An ATTEST receipt that was created so long after the start.
    static func attest(_ milliseconds: Int64, expires: Int64? = nil) -> ReceiptDates {
        ReceiptDates(type: .attest, createdAt: at(milliseconds), expiresAt: expires.map(at))
    }

    static func answer(_ status: Int, at time: EvaluationTime) -> ReceiptAnswer {
        ReceiptAnswer(status: status, headers: [], body: [], at: time)
    }
}

/// What a mutating call gives: the macro's own expansion takes no such call.
func present<Value>(_ value: Value?, sourceLocation: SourceLocation = #_sourceLocation) throws -> Value {
    try #require(value, sourceLocation: sourceLocation)
}
