internal import AppAttest
internal import Risk
internal import Testing

@Suite("Apple's answers")
struct ReceiptAnswerTests {
    private static let receipt: [UInt8] = [0xFB, 0xFF, 0x00, 0x01, 0x02]
    private static let text = Array("+/8AAQI=".utf8)

    private func answer(
        _ status: Int,
        _ body: [UInt8] = [],
        headers: [(name: String, value: String)] = []
    ) -> ReceiptAnswer {
        let headers = headers.map { (name: $0.name, value: Array($0.value.utf8)) }
        return ReceiptAnswer(status: status, headers: headers, body: body, at: Sample.start)
    }

    @Test(arguments: ["+/8AAQI=", " \r\n\t+/8AAQI=\n ", "+/8AAQI"])
    func `an answer 200 is a receipt in standard Base64, white space around it`(text: String) {
        #expect(answer(200, Array(text.utf8)).content == .receipt(Self.receipt))
    }

    @Test(
        arguments: [
            ("", InvalidReceipt.empty), (" \n", .empty), ("<html></html>", .notBase64), ("-_8AAQI=", .notBase64),
            ("_wAB", .notBase64), ("-wAB", .notBase64),
            ("+/8AA QI=", .notBase64), ("+/8A\nAQI=", .notBase64), ("+/8AAQI==", .notBase64), ("+/8AAQJ=", .notBase64),
            ("+/8AAQI=\u{0}", .notBase64), ("=", .notBase64), ("====", .notBase64), ("A", .notBase64),
        ]
    )
    func `any other answer 200 is invalid`(text: String, expected: InvalidReceipt) {
        #expect(answer(200, Array(text.utf8)).content == .other(.invalid(expected)))
    }

    @Test func `a body of 16 KiB is read, and none longer`() {
        let text = [UInt8](repeating: UInt8(ascii: "A"), count: ReceiptAnswer.mostBodyBytes)
        #expect(answer(200, text).content == .receipt([UInt8](repeating: 0, count: 12 * 1_024)))
        #expect(answer(200, text + [0x0A]).content == .other(.invalid(.tooLong)))
        #expect(answer(200, [UInt8](repeating: 0x20, count: 1 << 20)).content == .other(.invalid(.tooLong)))
    }

    @Test(
        arguments: [
            (304, "early", true, nil), (404, "absent", true, nil), (401, "unauthorized", false, .unauthorized),
            (429, "throttled", false, .pressure), (500, "unavailable", false, .pressure),
            (503, "unavailable", false, .pressure), (599, "unavailable", false, .pressure),
            (400, "refused", true, .answer), (201, "unexpected", true, .answer), (202, "unexpected", true, .answer),
            (301, "unexpected", true, .answer), (307, "unexpected", true, .answer), (403, "unexpected", true, .answer),
            (413, "unexpected", true, .answer), (499, "unexpected", true, .answer),
            (0, "unavailable", false, .pressure),
            (100, "unavailable", false, .pressure), (600, "unavailable", false, .pressure),
            (-1, "unavailable", false, .pressure), (.max, "unavailable", false, .pressure),
        ] as [(Int, String, Bool, CallFailure?)]
    )
    func `the status says what becomes of the record, and what counts as a failure`(
        status: Int,
        name: String,
        isFinal: Bool,
        failure: CallFailure?
    ) {
        let outcome = CallOutcome(answer(status, Self.text)) { _ in .failure(.notLater) }
        #expect(outcome.name == name)
        #expect(outcome.isFinal == isFinal)
        #expect(outcome.failure == failure)
    }

    @Test func `a receipt counts as what the judgement makes of it`() {
        var judged: [[UInt8]] = []
        let verified = CallOutcome(answer(200, Self.text)) { receipt in
            judged.append(receipt)
            return .success(.accepted)
        }
        #expect(judged == [Self.receipt])
        #expect(verified == .verified(.accepted) && verified.isFinal && verified.failure == nil)
        let other = CallOutcome(answer(200, Self.text)) { _ in .failure(.otherToken) }
        #expect(other == .notGenuine(.otherToken) && other.isFinal && other.failure == .answer)
        let invalid = CallOutcome(answer(200)) { _ in .success(.accepted) }
        #expect(invalid == .invalid(.empty) && invalid.isFinal && invalid.failure == .answer)
        #expect([CallOutcome.timedOut, .transport].allSatisfy { !$0.isFinal && $0.failure == .pressure })
    }

    @Test(
        arguments: [
            ("Incorrect Environment", ReceiptComplaint.incorrectEnvironment), ("Bad Payload\n", .badPayload),
            ("bad payload", .other), ("", .other), ("Bad Payload.", .other), ("\u{0}", .other),
        ]
    )
    func `the text of an answer 400 tells the complaint`(text: String, expected: ReceiptComplaint) {
        #expect(answer(400, Array(text.utf8)).content == .other(.refused(expected)))
    }

    @Test(
        arguments: [
            ("0", 0), ("7", 7_000), (" 120 ", 120_000), ("9999999999", 9_999_999_999_000), ("99999999999", nil),
            ("-1", nil), ("1.5", nil), ("", nil), ("soon", nil), ("Tue, 14 Nov 2023 22:13:30 GMT", 10_000),
            ("Tue, 14 Nov 2023 22:13:10 GMT", 0), ("Tue, 14 Nov 2023 22:13:30", nil),
        ] as [(String, Int64?)]
    )
    func `Retry-After is seconds or a date`(value: String, expected: Int64?) {
        #expect(answer(429, headers: [("Retry-After", value)]).retryAfterMilliseconds == expected)
        #expect(answer(429, headers: [("RETRY-after", value)]).retryAfterMilliseconds == expected)
        #expect(answer(429, headers: [("Retry-Afte", value)]).retryAfterMilliseconds == nil)
    }

    @Test func `a Retry-After with a date is compared with the server's clock`() {
        let headers = [
            (name: "Retry-After", value: "Tue, 14 Nov 2023 22:13:30 GMT"),
            (name: "Date", value: "Tue, 14 Nov 2023 22:13:28 GMT"),
        ]
        #expect(answer(503, headers: headers).retryAfterMilliseconds == 2_000)
    }

    @Test(
        arguments: [
            ("Tue, 14 Nov 2023 22:13:20 GMT", 1_700_000_000_000), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000_000), ("Wed, 29 Feb 2023 12:00:00 GMT", nil),
            ("Tue, 14 Nov 2023 24:13:20 GMT", nil), ("Tuesday, 14-Nov-23 22:13:20 GMT", nil),
            ("Tue, 14 Nov 2023 22:13:20 UTC", nil), ("Tue, 14 nov 2023 22:13:20 GMT", nil),
            ("Tue, 14 Nov 2023 22-13-20 GMT", nil), ("Tue, xx Nov 2023 22:13:20 GMT", nil), ("", nil),
            ("Tue,_14 Nov 2023 22:13:20 GMT", nil), ("Tue, 14_Nov 2023 22:13:20 GMT", nil),
        ] as [(String, Int64?)]
    )
    func `Date is the server's clock`(value: String, expected: Int64?) {
        #expect(answer(200, headers: [("date", value)]).serverTime?.milliseconds == expected)
    }

    @Test(
        arguments: [
            ("463ac35c9f6413ad", true), ("463AC35C9F6413AD48485A3953BB6124", true), ("463ac35c9f6413a", false),
            ("463ac35c9f6413ag", false), ("", false), ("463ac35c9f6413ad\n", false),
        ]
    )
    func `a trace id is 16 or 32 hexadecimal digits`(value: String, isKept: Bool) {
        let trace = answer(200, headers: [("X-B3-TraceId", value)]).traceID
        #expect(trace == (isKept ? Array(value.utf8) : nil))
    }

    @Test func `of equal headers the last counts`() {
        let headers = [(name: "Retry-After", value: "1"), (name: "retry-after", value: "2")]
        #expect(answer(429, headers: headers).retryAfterMilliseconds == 2_000)
    }
}
