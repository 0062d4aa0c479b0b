import Testing

@testable import AppAttest

@Suite struct BERReaderTests {
    /// What follows the range belongs to another element, and is never read.
    private static let beyond = [UInt8](repeating: 0, count: 300)

    private func content(_ bytes: [UInt8], _ rest: [UInt8]) throws(ReceiptRefusal) -> Range<Int> {
        var reader = BERReader(0..<bytes.count)
        return try reader.content(0x04, (bytes + rest).span)
    }

    @Test(arguments: [
        ([0x04, 0x00], 2..<2), ([0x04, 0x02, 1, 2], 2..<4),
        ([0x04, 0x81, 0x80] + [UInt8](repeating: 1, count: 128), 3..<131),
        ([0x04, 0x82, 0x01, 0x00] + [UInt8](repeating: 1, count: 256), 4..<260),
    ])
    func `an element is read within its range`(_ bytes: [UInt8], _ expected: Range<Int>) throws {
        #expect(try content(bytes, Self.beyond) == expected)
    }

    @Test(arguments: [
        [], [0x04], [0x05, 0x00],
        // Lengths: unfinished, indefinite, long form for a short one, leading zero, more than two octets, too long.
        [0x04, 0x81], [0x04, 0x82, 0x01], [0x04, 0x80],
        [0x04, 0x81, 0x7F] + [UInt8](repeating: 1, count: 127),
        [0x04, 0x82, 0x00, 0xFF] + [UInt8](repeating: 1, count: 255),
        [0x04, 0x83, 0x00, 0x01, 0x00] + [UInt8](repeating: 1, count: 256), [0x04, 0x02, 0x01],
        [0x04, 0x81, 0x80, 0x01],
    ])
    func `any other element is malformed, whatever follows it`(_ bytes: [UInt8]) {
        #expect(throws: ReceiptRefusal.malformed) { try content(bytes, Self.beyond) }
        #expect(throws: ReceiptRefusal.malformed) { try content(bytes, []) }
    }

    @Test(
        arguments: [
            ([0x30, 0x02, 0x05, 0x00], true), ([0x30, 0x80, 0x05, 0x00, 0x00, 0x00], true),
            // Something after what is read, and ends of contents that are none.
            ([0x30, 0x03, 0x05, 0x00, 0x00], false), ([0x30, 0x80, 0x05, 0x00], false),
            ([0x30, 0x80, 0x05, 0x00, 0x00], false), ([0x30, 0x80, 0x05, 0x00, 0x01, 0x00], false),
            ([0x30, 0x80, 0x05, 0x00, 0x00, 0x01], false),
        ] as [([UInt8], Bool)]
    )
    func `an element is left at its end alone`(_ bytes: [UInt8], _ isAllowed: Bool) {
        func read() throws(ReceiptRefusal) {
            var reader = BERReader(0..<bytes.count)
            let frame = try reader.enter(0x30, bytes.span)
            _ = try reader.content(0x05, bytes.span)
            try reader.leave(frame, bytes.span)
            try reader.expectEnd()
        }
        #expect(((try? read()) != nil) == isAllowed)
    }

    @Test func `expected bytes lie within the range`() throws {
        var reader = BERReader(0..<2)
        let bytes: [UInt8] = [1, 2, 3]
        #expect(throws: ReceiptRefusal.malformed) { try reader.expect([1, 2, 3], bytes.span) }
        #expect(throws: ReceiptRefusal.malformed) { try reader.expect([1, 3], bytes.span) }
        #expect(throws: ReceiptRefusal.malformed) { try reader.expectEnd() }
        try reader.expect([1, 2], bytes.span)
        try reader.expectEnd()
    }
}
