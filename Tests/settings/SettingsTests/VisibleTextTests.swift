internal import JSON
internal import Settings
internal import Testing

@Suite("Text for a terminal")
struct VisibleTextTests {
    /// Controls of both sets, signs of direction, joiners, separators, a tag, private use, a foreign space.
    static let invisible: [UInt32] = [
        0x00, 0x07, 0x0D, 0x1B, 0x7F, 0x80, 0x85, 0x9B, 0x9F, 0xA0, 0xAD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2028,
        0x2029,
        0x202A, 0x202E, 0x2066, 0x2069, 0x3000, 0xE000, 0xFEFF, 0xE0041, 0x10FFFF,
    ]

    @Test(arguments: invisible)
    func `what is invisible is written by its number`(value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        let text = "a\(String(scalar))b"
        let digits = String(value, radix: 16, uppercase: true)
        let code = "[U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
        #expect(text.printable == "a\(code)b")
        #expect(text.printableLines == "a\(code)b")
        #expect(text.oneLine.unicodeScalars.allSatisfy { $0.isVisible })
    }

    @Test(arguments: ["", "plain", "é", "e\u{301}", "日本語", "−1 … –", "🙂", "שלום"])
    func `what is visible stays`(text: String) {
        #expect(text.printable == text)
        #expect(Array(VisibleJSON.of(Array(text.utf8))) == Array(text.utf8))
    }

    @Test func `lines stay in a text of several, and an error is one`() {
        #expect("a\nb".printableLines == "a\nb")
        #expect("a\r\nb".printableLines == "a[U+000D]\nb")
        #expect("a\nb".printable == "a[U+000A]b")
        #expect("a\n\r\n\u{2028}b".oneLine == "a b")
    }

    @Test(arguments: invisible)
    func `JSON keeps its values, with what is invisible escaped`(value: UInt32) throws {
        let text = "a\(String(try #require(Unicode.Scalar(value))))b"
        var json = JSONWriter()
        json.beginObject()
        json.key(named: text)
        json.string(text)
        json.endObject()
        let shown = VisibleJSON.of(json.bytes)
        #expect(String(decoding: shown, as: UTF8.self).unicodeScalars.allSatisfy { $0.isVisible })
        let member = try #require(try JSONDocument(parsing: shown).root.members.first)
        #expect(member.name == Array(text.utf8) && member.value.string == text)
    }
}
