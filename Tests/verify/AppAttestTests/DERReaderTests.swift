import Testing

@testable import AppAttest

@Suite struct DERReaderTests {
    private func read(_ bytes: [UInt8]) throws(DERFault) -> DERElement {
        var reader = DERReader(0..<bytes.count)
        let element = try reader.next(bytes.span)
        try reader.expectEnd()
        return element
    }

    @Test(arguments: [
        ([0x05, 0x00], DERTag(leading: 0, number: 5), 2..<2),
        ([0x30, 0x02, 0x05, 0x00], .sequence, 2..<4),
        ([0xBF, 0x1F, 0x00], .explicit(31), 3..<3),
        ([0xBF, 0x8A, 0x78, 0x01, 0x00], .explicit(1400), 4..<5),
        ([0x04, 0x81, 0x80] + [UInt8](repeating: 0, count: 128), .octetString, 3..<131),
        ([0x04, 0x82, 0x01, 0x00] + [UInt8](repeating: 0, count: 256), .octetString, 4..<260),
    ])
    func `one encoding of each element is read`(_ bytes: [UInt8], _ tag: DERTag, _ content: Range<Int>) throws {
        let element = try read(bytes)
        #expect(element.tag == tag)
        #expect(element.content == content)
        #expect(element.whole == 0..<bytes.count)
    }

    @Test(arguments: [
        [], [0x30], [0x04, 0x01], [0x04, 0x81], [0x04, 0x82, 0x01],
        // Lengths: long form for a short one, leading zero, indefinite, more than two octets, reserved.
        [0x04, 0x81, 0x01, 0x00], [0x04, 0x82, 0x00, 0x80] + [UInt8](repeating: 0, count: 128),
        [0x30, 0x80, 0x00, 0x00], [0x04, 0x83, 0x00, 0x00, 0x00],
        [0x04, 0x83, 0x00, 0x01, 0x00] + [UInt8](repeating: 0, count: 256),
        [0x04, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x04, 0xFF],
        // Tags: high form for a low number, leading zero, unfinished, longer than any in use.
        [0x1F, 0x1E, 0x00], [0x1F, 0x80, 0x1F, 0x00], [0x1F, 0x81], [0x1F], [0x1F, 0xFF, 0xFF, 0xFF, 0x7F, 0x00],
        // Something after the element.
        [0x05, 0x00, 0x00],
    ])
    func `any other encoding is refused`(_ bytes: [UInt8]) {
        #expect(throws: DERFault.self) { try read(bytes) }
    }

    @Test func `an element that reaches beyond its range, or has another tag, is refused at once`() {
        let bytes: [UInt8] = [0x04, 0x02, 0x01, 0x02]
        var (short, other) = (DERReader(0..<3), DERReader(0..<4))
        #expect(throws: DERFault.self) { try short.next(bytes.span) }
        #expect(throws: DERFault.self) { try other.element(.sequence, bytes.span) }
    }

    @Test(
        arguments: [
            ([0x00], true), ([0x7F], true), ([0x00, 0x80], true), ([0xFF, 0x7F], true), ([0x80], true),
            // Empty, and padded.
            ([], false), ([0x00, 0x7F], false), ([0x00, 0x00], false), ([0xFF, 0x80], false), ([0xFF, 0xFF], false),
        ] as [([UInt8], Bool)]
    )
    func `minimal integers are read, and no others`(_ content: [UInt8], _ isMinimal: Bool) {
        let bytes = DER.integer(content)
        var reader = DERReader(0..<bytes.count)
        let place = try? reader.integer(bytes.span)
        #expect(place == (isMinimal ? 2..<bytes.count : nil))
    }

    @Test(arguments: [[], [0x01, 0x00], [0x08, 0x00]])
    func `bit strings with incomplete octets are refused`(_ content: [UInt8]) {
        let bytes = DER.element([0x03], content)
        #expect(throws: DERFault.self) {
            var reader = DERReader(0..<bytes.count)
            _ = try reader.octetsOfBitString(bytes.span)
        }
    }
}

@Suite struct DERTimeTests {
    private func read(_ tag: UInt8, _ text: String) throws(DERFault) -> Int64 {
        let bytes = DER.element([tag], Array(text.utf8))
        var reader = DERReader(0..<bytes.count)
        return try DERTime.next(&reader, bytes.span).milliseconds
    }

    @Test(
        arguments: [
            (0x17, "700101000000Z", 0), (0x17, "500101000000Z", -631_152_000), (0x17, "491231235959Z", 2_524_607_999),
            (0x17, "200911151519Z", 1_599_837_319), (0x17, "240229120000Z", 1_709_208_000),
            (0x18, "20000229000000Z", 951_782_400), (0x18, "20500101000000Z", 2_524_608_000),
            (0x18, "99991231235959Z", 253_402_300_799), (0x18, "19691231235959Z", -1),
            (0x18, "00000101000000Z", -62_167_219_200),
        ] as [(UInt8, String, Int64)]
    )
    func `times are read to the second`(_ tag: UInt8, _ text: String, _ seconds: Int64) throws {
        #expect(try read(tag, text) == seconds * 1000)
    }

    @Test(
        arguments: [
            (0x17, ""), (0x17, "2009111515Z"), (0x17, "200911151519"), (0x17, "200911151519+"),
            (0x17, "2009111515190Z"),
            (0x17, "200011151519Z"), (0x17, "201311151519Z"), (0x17, "200900151519Z"), (0x17, "200931151519Z"),
            (0x17, "230229000000Z"), (0x17, "200911241519Z"), (0x17, "200911156019Z"), (0x17, "200911151560Z"),
            (0x17, "2009111515 9Z"), (0x17, "20091115151/Z"), (0x17, "20091115151:Z"), (0x17, "20200911151519Z"),
            (0x18, "200911151519Z"), (0x18, "20200911151519.1Z"), (0x18, "21000229000000Z"), (0x16, "200911151519Z"),
        ] as [(UInt8, String)]
    )
    func `times that are invalid in the calendar or in DER are refused`(_ tag: UInt8, _ text: String) {
        #expect(throws: DERFault.self) { try read(tag, text) }
    }
}
