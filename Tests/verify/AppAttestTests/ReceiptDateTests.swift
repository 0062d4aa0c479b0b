import Testing

@testable import AppAttest

@Suite struct ReceiptDateTests {
    private static func milliseconds(_ text: String) -> Int64? {
        let bytes = [0xFF] + Array(text.utf8) + [0xFF]
        return ReceiptDate.time(1..<(bytes.count - 1), bytes.span)?.milliseconds
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2020-08-16T13:44:24.32Z", 1_597_585_464_320),
            ("2024-02-29T23:59:59.999Z", 1_709_251_199_999), ("2024-06-28T12:00:00.5Z", 1_719_576_000_500),
            ("2024-06-28T12:00:00.000000001Z", 1_719_576_000_000),
            ("2024-06-28T12:00:00.123456789Z", 1_719_576_000_123),
            ("9999-12-31T23:59:59.9Z", 253_402_300_799_900), ("2000-02-29T00:00:00Z", 951_782_400_000),
        ] as [(String, Int64)]
    )
    func `a time with up to nine fraction digits is read`(text: String, milliseconds: Int64) {
        #expect(Self.milliseconds(text) == milliseconds)
    }

    @Test(arguments: [
        "", "Z", "2024-06-28", "2024-06-28T12:00:00", "2024-06-28T12:00:00+00:00", "2024-06-28t12:00:00Z",
        "2024-06-28T12:00:00z", "2024-06-28 12:00:00Z", "2024-06-28T12:00:00.Z", "2024-06-28T12:00:00.1234567890Z",
        "2024-06-28T12:00:00,5Z", "2024-06-28T12:00:00.5", "2024-06-28T12:00:00.-5Z", "2024-06-28T12:00:00.5 Z",
        "2024-06-28T12:00Z", "24-06-28T12:00:00Z", "2024-6-28T12:00:00Z", "2024-13-01T00:00:00Z",
        "2024-00-01T00:00:00Z",
        "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-04-31T00:00:00Z", "2024-01-00T00:00:00Z",
        "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:60Z", "2024-01-01T00:00:0aZ",
        "+024-01-01T00:00:00Z", "2024-01-01T00:00:00ZZ", " 2024-01-01T00:00:00Z", "2024_01_01T00:00:00Z",
    ])
    func `any other spelling, or a time that does not exist, is refused`(text: String) {
        #expect(Self.milliseconds(text) == nil)
    }
}
