internal import AppAttest
internal import Risk
internal import Testing

@Suite("The three lines")
struct ReceiptLineTests {
    @Test(
        arguments: [
            (ReceiptLine.first, ReceiptType.attest, true), (.first, .receipt, false), (.again, .attest, true),
            (.again, .receipt, true), (.late, .attest, true), (.late, .receipt, true),
        ]
    )
    func `first takes receipts that were never exchanged, the others take both types`(
        line: ReceiptLine,
        type: ReceiptType,
        isTaken: Bool
    ) {
        #expect(line.takes(type) == isTaken)
    }

    @Test(
        arguments: [
            (ReceiptLine.first, Milliseconds.minute), (.again, 7 * Milliseconds.day), (.late, 30 * Milliseconds.day),
        ]
    )
    func `a receipt without Not Before is due at the line's distance from its creation`(
        line: ReceiptLine,
        distance: Int64
    ) {
        #expect(line.due(Sample.attest(5), LineSettings()) == Sample.at(5 + distance))
        var settings = LineSettings()
        (settings.first, settings.again, settings.late) = (1, 1, 1)
        #expect(line.due(Sample.attest(5), settings) == Sample.at(6))
    }

    @Test(arguments: ReceiptLine.allCases)
    func `Not Before and ten minutes win over a shorter distance, and not over a longer one`(line: ReceiptLine) {
        var dates = Sample.attest(0)
        dates.notBefore = Sample.at(90 * Milliseconds.day)
        #expect(line.due(dates, LineSettings()) == Sample.at(90 * Milliseconds.day + 10 * Milliseconds.minute))
        dates.notBefore = Sample.at(-Milliseconds.day)
        #expect(line.due(dates, LineSettings()) == Sample.at(LineSettings().distance(of: line)))
    }

    @Test func `a time at the end of numbers does not overflow`() {
        var dates = Sample.attest(0)
        dates.createdAt = EvaluationTime(milliseconds: .max)
        dates.notBefore = EvaluationTime(milliseconds: .max)
        #expect(ReceiptLine.late.due(dates, LineSettings()) == .never)
        dates.createdAt = EvaluationTime(milliseconds: .min)
        dates.notBefore = EvaluationTime(milliseconds: .min)
        #expect(ReceiptLine.late.due(dates, LineSettings()) < Sample.start)
    }

    @Test(
        arguments: [
            (nil, "17", "42"), ("RECEIPT", nil, "42"), ("receipt", "17", "42"), ("RECEIPT", "", "42"),
            ("RECEIPT", "-1", "42"), ("RECEIPT", "17 ", "42"), ("RECEIPT", "17", "x"), ("RECEIPT", "17", ""),
            ("RECEIPT", "1234567890123456", "42"), ("RECEIPT", "17", "99999999999999999999999999"),
        ] as [(String?, String?, String?)]
    )
    func `headers that say something else give nothing`(type: String?, createdAt: String?, notBefore: String?) {
        func bytes(_ text: String?) -> [UInt8]? { text.map { Array($0.utf8) } }
        #expect(ReceiptDates(type: bytes(type), createdAt: bytes(createdAt), notBefore: bytes(notBefore)) == nil)
    }
}
