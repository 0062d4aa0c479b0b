import JSON
import Testing

/// Runs of multibyte characters and of escapes are scanned several bytes at a time: each byte counts as it does alone.
@Suite struct StringRunTests {
    private func isAccepted(_ content: [UInt8]) -> Bool {
        do throws(JSONFault) {
            _ = try JSONDocument(parsing: [0x22] + content + [0x22], maxDepth: 1, maxNodes: 2)
            return true
        } catch {
            return false
        }
    }

    @Test(
        arguments: [
            "éééééééé", "€€€€€", "é€é€éé€éééé", "\u{301}\u{323}\u{301}\u{323}a\u{301}", "😀é€😀éééé😀",
            "😀😀😀😀é😀😀", "\u{10000}\u{10FFFF}\u{FFFFF}\u{10000}",
        ]
    )
    func `a run of characters is accepted exactly where it is UTF-8`(text: String) {
        let right = Array(text.utf8)
        #expect(isAccepted(right))
        for place in right.indices {
            for value in UInt8(0x80)...0xFF {
                var bytes = right
                bytes[place] = value
                #expect(isAccepted(bytes) == UTF8Text.isValid(bytes), "\(bytes)")
            }
            #expect(isAccepted(Array(right[..<place])) == UTF8Text.isValid(Array(right[..<place])))
        }
    }

    @Test(arguments: ["\\u0061\\u1Fa9\\uFFFF", "\\uD83d\\udE00\\uDBFF\\uDFFF\\ud7ff\\uD800\\uDC00"], 0..<4)
    func `a run of escapes is accepted exactly where all digits are hexadecimal and surrogates are pairs`(
        text: String,
        digit: Int
    ) {
        let right = Array(text.utf8)
        #expect(isAccepted(right))
        for place in stride(from: 2 + digit, to: right.count, by: 6) {
            for value in UInt8.min...UInt8.max {
                var bytes = right
                bytes[place] = value
                #expect(isAccepted(bytes) == Self.isContent(bytes), "\(bytes)")
            }
        }
    }

    @Test(arguments: 1...16)
    func `a run that is cut off is refused`(count: Int) {
        let text = Array("\\u0061\\u0301éé".utf8)
        #expect(isAccepted(Array(text.prefix(count))) == [6, 12, 14, 16].contains(count))
    }

    /// Escapes as they are written, with the bytes that they stand for.
    private static let escapes: [(written: String, bytes: [UInt8])] = [
        ("\\n", [0x0A]), ("\\t", [0x09]), ("\\r", [0x0D]), ("\\b", [0x08]), ("\\f", [0x0C]), ("\\/", [0x2F]),
        ("\\\\", [0x5C]), ("\\\"", [0x22]), ("\\u0061", [0x61]), ("\\u00e9", [0xC3, 0xA9]),
        ("\\u20Ac", [0xE2, 0x82, 0xAC]), ("\\uFFFf", [0xEF, 0xBF, 0xBF]),
        ("\\uD83d\\uDe00", [0xF0, 0x9F, 0x98, 0x80]), ("a", [0x61]), ("aaaaaaaaa", [UInt8](repeating: 0x61, count: 9)),
        ("é", [0xC3, 0xA9]),
    ]

    @Test func `runs of escapes of any length and mixture stand for what each of them does`() throws {
        func check(_ places: [Int]) throws {
            let written = places.map { Self.escapes[$0].written }.joined()
            let bytes = places.flatMap { Self.escapes[$0].bytes }
            let string = try JSONDocument(parsing: Array("\"\(written)\"".utf8)).root
            #expect(string.stringBytes == bytes, "\(written)")
            let isHeld = string.holds(bytes.span)
            #expect(isHeld)
        }
        for one in Self.escapes.indices {
            for count in 0...40 {
                try check(Array(repeating: one, count: count))
                // The run is broken at each place.
                if (1...20).contains(count) {
                    let other = (one + count) % Self.escapes.count
                    for place in 0..<count {
                        var places = Array(repeating: one, count: count)
                        places[place] = other
                        try check(places)
                    }
                }
            }
        }
    }

    /// Whether a text may stand between quotes, read the slow way.
    private static func isContent(_ text: [UInt8]) -> Bool {
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\") {
                guard isEscape(&rest) else { return false }
            } else if byte < 0x20 || byte == UInt8(ascii: "\"") {
                return false
            }
        }
        return UTF8Text.isValid(text)
    }

    /// Takes an escape behind its backslash, of a surrogate its partner too.
    private static func isEscape(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let kind = rest.popFirst() else { return false }
        guard kind == UInt8(ascii: "u") else { return Array("\"\\/nrtbf".utf8).contains(kind) }
        guard let unit = unit(&rest), !(0xDC00...0xDFFF).contains(unit) else { return false }
        guard (0xD800...0xDBFF).contains(unit) else { return true }
        guard rest.starts(with: Array("\\u".utf8)) else { return false }
        rest = rest.dropFirst(2)
        return self.unit(&rest).map { (0xDC00...0xDFFF).contains($0) } ?? false
    }

    private static func unit(_ rest: inout ArraySlice<UInt8>) -> UInt16? {
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        guard digits.count == 4, digits.allSatisfy({ $0 < 0x80 && Character(UnicodeScalar($0)).isHexDigit }) else {
            return nil
        }
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    @Test(arguments: 1...16)
    func `any mixture of escapes and other characters is accepted exactly where each of them is right`(seed: UInt64) {
        var next = Dice(seed)
        let parts = Self.escapes.map { Array($0.written.utf8) } + [Array("\\ud7ff".utf8), Array("A".utf8)]
        let kinds = Array("\\\\\\/u0189:@AFGafgnrtbdDcC\"~ ".utf8) + [0x00, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]
        var accepted = 0
        for _ in 0..<1_500 {
            let (first, variety) = (next(parts.count), 1 + next(parts.count))
            var text = (0..<next(40)).flatMap { _ in parts[(first + next(variety)) % parts.count] }
            for _ in 0..<next(3) where !text.isEmpty { text[next(text.count)] = kinds[next(kinds.count)] }
            if next(6) == 0 { text = Array(text.prefix(next(text.count + 1))) }
            #expect(isAccepted(text) == Self.isContent(text), "\(text)")
            if isAccepted(text) { accepted += 1 }
        }
        #expect((300..<1_300).contains(accepted))
    }

    @Test(arguments: ["\\/", "\\/A", "\\/AA", "A\\/AAAAAAAAA", "\\/\\u0041", "\\/\\nA", "\\u00e9A", "\\\\\\\"\\u0041"])
    func `a run of escapes is accepted exactly where each of its bytes may stand there`(pattern: String) {
        let kinds = Array("\\/u0189:@AFGafgnrtb\"~ ".utf8) + [0x00, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]
        for skipped in 0..<8 {
            let text = [UInt8](repeating: UInt8(ascii: "Q"), count: skipped) + (0..<5).flatMap { _ in pattern.utf8 }
            for place in text.indices {
                for byte in kinds {
                    var text = text
                    text[place] = byte
                    guard isAccepted(text) == Self.isContent(text) else {
                        Issue.record("\(text)")
                        return
                    }
                }
            }
        }
    }

    @Test func `a run of two-character escapes ends at the first that is none`() {
        for count in 1...20 {
            for place in 0..<count {
                for kind in UInt8.min...UInt8.max {
                    var content = Array(repeating: Array("\\/".utf8), count: count).flatMap { $0 }
                    content[2 * place + 1] = kind
                    // A backslash or a quote shifts the escapes behind it.
                    guard kind != 0x5C, kind != 0x22, kind != UInt8(ascii: "u") else { continue }
                    #expect(isAccepted(content) == Array("/nrtbf".utf8).contains(kind))
                }
            }
        }
    }
}
