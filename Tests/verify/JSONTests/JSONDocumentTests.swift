import JSON
import Testing

private func parse(_ text: String, maxDepth: Int = 32, maxNodes: Int = 4096) throws -> JSONNode {
    try JSONDocument(parsing: Array(text.utf8), maxDepth: maxDepth, maxNodes: maxNodes).root
}

private func code(_ bytes: [UInt8], maxDepth: Int = 32, maxNodes: Int = 4096) -> JSONFault.Code? {
    do throws(JSONFault) {
        _ = try JSONDocument(parsing: bytes, maxDepth: maxDepth, maxNodes: maxNodes)
        return nil
    } catch {
        return error.code
    }
}

@Suite struct JSONDocumentTests {
    @Test(
        arguments: [
            ("null", JSONNode.Kind.null), (" true", .bool), ("false\n", .bool), ("-0.5e+7", .number), ("\"\"", .string),
            ("[ ]", .array), ("{\t}", .object),
        ]
    )
    func `every kind of value is distinguished`(_ text: String, _ kind: JSONNode.Kind) throws {
        #expect(try parse(text).kind == kind)
    }

    @Test(
        arguments: [
            "", " ", "nul", "nulL", "True", "tru", "+1", "01", "-", "-01", "1.", ".5", "1e", "1e+", "0x1", "1_0",
            "NaN", "Infinity", "'a'", "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\U0041\"", "\"a\nb\"",
            "\"\u{0}\"", "\"\u{1F}\"", "[", "]", "[1", "[1,", "[,1]", "[1,]", "[1 2]", "{", "}", "{\"a\"", "{\"a\":",
            "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[}",
            "{]",
            "{\"a\"}", "[1}", "1 1", "null,", "{}{}", "[]]", "// c\n1", "/* c */1", "\u{FEFF}1", "\u{FEFF}{}",
            "\u{A0}1", "\u{B}1", "\u{C}1", "\"\\'\"", "{\"a\"::1}", "[1,,2]", "\"\\ud800\"", "\"\\udc00\"",
            "\"\\ud800\\u0041\"", "\"\\ud800\\ud800\"", "\"\\ud83d\"", "\"\\ud83d\\n\"", "\"\\ud83d\\u\"",
            "\"\\udc00\\ud800\"", "-a", "tfalse", "\"\\u", "\"\\ud800\\udc0\"",
        ]
    )
    func `syntax outside RFC 8259 is refused`(_ text: String) {
        #expect(code(Array(text.utf8)) != nil)
    }

    @Test(
        arguments: [
            ("", JSONFault(code: .empty, offset: 0)), ("  ", JSONFault(code: .empty, offset: 2)),
            ("[1] x", JSONFault(code: .trailingBytes, offset: 4)), ("[1,]", JSONFault(code: .syntax, offset: 3)),
            ("\"ab", JSONFault(code: .syntax, offset: 3)), ("\"a\\q\"", JSONFault(code: .syntax, offset: 2)),
        ]
    )
    func `a fault has its kind and place`(_ text: String, _ fault: JSONFault) {
        #expect(throws: fault) { try parse(text) }
    }

    @Test(
        arguments: [
            (#""""#, ""), (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u0041\u00e9\u20AC\ud83d\ude00""#, "Aé€😀"), (#""é€😀""#, "é€😀"), (#""\u0000""#, "\u{0}"),
            (#""a\u007fb""#, "a\u{7F}b"),
            (#""\uFFFF\uD7FF\uE000\u0800\u07FF""#, "\u{FFFF}\u{D7FF}\u{E000}\u{800}\u{7FF}"),
            (#""\udbff\udfff\ud800\udc00""#, "\u{10FFFF}\u{10000}"), (#""12345678\/12345678\/""#, "12345678/12345678/"),
            (#""\\\\\\\\\\\\\\\\""#, #"\\\\\\\\"#), (#""1234567\n""#, "1234567\n"), ("\"\u{7F}\"", "\u{7F}"),
        ]
    )
    func `strings give their bytes with escapes resolved`(_ text: String, _ content: String) throws {
        #expect(try parse(text).string == content)
        #expect(try parse("[1,\(text)]").elements[1].stringBytes == Array(content.utf8))
    }

    @Test(arguments: 0..<40)
    func `an escape at every place of a string is resolved`(_ place: Int) throws {
        let before = String(repeating: "a", count: place)
        let after = String(repeating: "b", count: 40 - place)
        for (escape, meaning) in [("\\n", "\n"), ("\\ud83d\\ude00", "😀"), ("\\\"", "\""), ("\\\\\\\\", "\\\\")] {
            #expect(try parse("\"\(before)\(escape)\(after)\"").string == before + meaning + after)
            #expect(try parse("\"\(before)\(escape)\"").string == before + meaning)
        }
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
            [0xE2, 0x28, 0xA1], [0xF0, 0x9F, 0x28, 0x80], [0xF0, 0x9F, 0x98, 0x28],
        ] as [[UInt8]]
    )
    func `bytes that are not UTF-8 are refused, or kept if the option asks for them`(_ bytes: [UInt8]) throws {
        for prefix in 0..<10 {
            let content = [UInt8](repeating: 0x61, count: prefix) + bytes + [0x62]
            let text = [0x22] + content + [0x22]
            #expect(code(text) == .invalidUTF8)
            #expect(code([0x7B] + text + [0x3A, 0x31, 0x7D]) == .invalidUTF8)
            let root = try JSONDocument(parsing: text, allowInvalidUTF8: true).root
            #expect(root.stringBytes == content)
            #expect(root.string == nil)
            #expect(!UTF8Text.isValid(content))
        }
        // A cut sequence right before the closing quote does not swallow the quote.
        #expect(code([0x22] + bytes + [0x22]) == .invalidUTF8)
    }

    @Test func `bytes from 0x80 on outside strings are refused`() {
        #expect(code([0xEF, 0xBB, 0xBF, 0x31]) == .syntax)
        #expect(code([0x31, 0xC2, 0xA0]) == .trailingBytes)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("42", 42), ("-7", -7), ("9223372036854775807", Int64.max),
            ("-9223372036854775808", Int64.min), ("9223372036854775808", nil), ("-9223372036854775809", nil),
            ("99999999999999999999999999", nil), ("1.0", nil), ("1e3", nil), ("1E3", nil), ("\"1\"", nil),
            ("true", nil),
        ] as [(String, Int64?)]
    )
    func `integers are read if they fit 64 bits`(_ text: String, _ value: Int64?) throws {
        #expect(try parse(text).integer == value)
    }

    @Test func `numbers keep their text and booleans their value; accessors of other kinds return nothing`() throws {
        #expect(try parse(" -0.10e-3 ").numberText == "-0.10e-3")
        #expect(try parse("true").bool == true)
        #expect(try parse("false").bool == false)
        let null = try parse("null")
        #expect(null.bool == nil && null.string == nil && null.numberText == nil && null.integer == nil)
        #expect(null.elements.isEmpty && null.members.isEmpty && null["a"] == nil && !null.hasDuplicateMembers)
        #expect(try parse("[1]").members.isEmpty)
        #expect(try parse("{\"a\":1}").elements.isEmpty)
    }

    @Test func `members after nested ones are found, under any spelling of their name`() throws {
        let root = try parse(#"{"skip":{"path":1,"x":[{"path":2}]},"list":[1,[2,3],{}],"p\u0061th":"here","path":4}"#)
        #expect(root["path"]?.string == "here")
        #expect(root["pat"] == nil)
        #expect(root["paths"] == nil)
        #expect(root["skip"]?["path"]?.integer == 1)
        #expect(root["list"]?.elements.count == 3)
        #expect(root["list"]?.elements[1].elements.map(\.integer) == [2, 3])
        #expect(root.members.map { String(decoding: $0.name, as: UTF8.self) } == ["skip", "list", "path", "path"])
        #expect(root.members.last?.value.integer == 4)
    }

    @Test(
        arguments: [
            (#"{"path":1,"path":2}"#, true), (#"{"path":1,"p\u0061th":2}"#, true), (#"{"\u0061":1,"\u0061":2}"#, true),
            (#"{"a":1,"A":2}"#, false), (#"{"a":1,"b":{"a":1,"a":2}}"#, false), (#"{}"#, false),
            (#"{"":1,"":2}"#, true),
            (#"{"é":1,"e\u0301":2}"#, false), (#"{"é":1,"\u00e9":2}"#, true), (#"{"a/b":1,"a\/b":2}"#, true),
        ]
    )
    func `duplicate members of this object are reported, however they are spelled`(
        _ text: String,
        _ expected: Bool
    ) throws {
        #expect(try parse(text).hasDuplicateMembers == expected)
    }

    @Test(arguments: [16, 17, 18, 200])
    func `duplicates are found in large objects too`(_ count: Int) throws {
        let names = (0..<count).map { "\"n\($0)\":0" }
        #expect(try !parse("{\(names.joined(separator: ","))}").hasDuplicateMembers)
        #expect(try parse("{\(names.joined(separator: ",")),\"\\u006e1\":0}").hasDuplicateMembers)
    }

    @Test func `depth and node count are limited, and one less passes`() throws {
        let deep = String(repeating: "[", count: 8) + String(repeating: "]", count: 8)
        #expect(code(Array(deep.utf8), maxDepth: 8) == nil)
        #expect(code(Array(deep.utf8), maxDepth: 7) == .tooDeep)
        let wide = "[1,2,{\"a\":3}]"
        #expect(code(Array(wide.utf8), maxNodes: 6) == nil)
        #expect(code(Array(wide.utf8), maxNodes: 5) == .tooManyNodes)
        #expect(code(Array("1".utf8), maxNodes: 0) == .tooManyNodes)
    }

    @Test(arguments: ["[", "{\"a\":", "[[],", "[\""])
    func `a megabyte of open brackets neither traps nor recurses`(_ unit: String) {
        let text = Array(String(repeating: unit, count: 1_000_000 / unit.utf8.count).utf8)
        #expect(code(text) != nil)
        #expect(code(text, maxDepth: .max, maxNodes: .max) != nil)
    }

    @Test func `two hundred thousand nested arrays are read where limits allow it`() throws {
        let count = 200_000
        let text = [UInt8](repeating: 0x5B, count: count) + [UInt8](repeating: 0x5D, count: count)
        let root = try JSONDocument(parsing: text, maxDepth: count, maxNodes: count).root
        #expect(root.elements.count == 1)
    }
}
