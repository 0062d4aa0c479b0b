import JSON
import Testing

/// What is long is read in vectors: each byte counts as it does alone.
@Suite struct LongRunTests {
    /// Base64 as RFC 4648 describes it, one character after the other.
    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        var (bits, count, bytes): (UInt32, Int, [UInt8]) = (0, 0, [])
        var signs = Set<Bool>()
        for character in text {
            let value: UInt8
            switch character {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - 65
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - 71
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character + 4
            case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
            default: return nil
            }
            if "+/".utf8.contains(character) { signs.insert(true) }
            if "-_".utf8.contains(character) { signs.insert(false) }
            (bits, count) = (bits << 6 | UInt32(value), count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return signs.count == 2 || count == 6 || bits & (1 << UInt32(count) - 1) != 0 ? nil : bytes
    }

    @Test(arguments: 64...260)
    func `a long text decodes as its characters do one by one, in both alphabets`(_ length: Int) {
        var dice = Dice(UInt64(length))
        let alphabets = ["+/", "-_", ""].map {
            Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\($0)".utf8)
        }
        var taken = 0
        for alphabet in alphabets {
            for round in 0..<20 {
                var text = (0..<length).map { _ in alphabet[dice(alphabet.count)] }
                // No padding bits.
                if round == 0 { text[length - 1] = UInt8(ascii: "A") }
                let expected = Self.decoded(text)
                #expect(Base64.decode(text) == expected)
                #expect(Base64.decode(escaped: text.span) == expected)
                if expected != nil { taken += 1 }
            }
        }
        #expect(length % 4 == 1 || taken > 0)
    }

    @Test(arguments: 0..<200)
    func `one other character is found wherever it stands in a long text`(_ place: Int) {
        let alphabet = Array("QUJDabcz0189+/Zy".utf8)
        let plain = (0..<200).map { alphabet[$0 % 10] }
        let signs = (0..<200).map { alphabet[$0 % 16] }
        for text in [plain, signs] {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                guard place < 198 || byte != UInt8(ascii: "=") else { continue }
                #expect(Base64.decode(changed) == Self.decoded(changed), "\(byte) at \(place)")
            }
        }
    }

    @Test(arguments: 0..<256)
    func `a long string ends at its first byte that is not plain, wherever that stands`(_ place: Int) {
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: 256)
        for byte in UInt8.min...UInt8.max {
            var changed = text
            changed[place] = byte
            let isPlain = byte >= 0x20 && byte < 0x80 && byte != 0x22 && byte != 0x5C
            let document = try? JSONDocument(parsing: [0x22] + changed + [0x22], maxDepth: 1, maxNodes: 2)
            #expect((document != nil) == isPlain, "\(byte) at \(place)")
        }
    }

    /// - Returns: what a cursor takes of `text`, which begins behind a quote; nil where it takes no string.
    private static func taken(_ text: [UInt8]) -> [UInt8]? {
        var (cursor, scratch) = (JSONCursor(0..<text.count + 1), ByteScratch())
        return cursor.string(([0x22] + text).span, into: &scratch) ? scratch.withBytes { Bytes.copy($0) } : nil
    }

    @Test(arguments: 0..<256)
    func `a long string is copied up to its quote, wherever that stands, and its escapes resolved`(_ place: Int) {
        let text = (0..<256).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        for byte in UInt8.min...UInt8.max {
            var changed = text
            changed[place] = byte
            let isWhole = byte >= 0x20 && byte != 0x22 && byte != 0x5C
            let expected = isWhole ? changed : byte == 0x22 ? Array(text[..<place]) : nil
            if byte != 0x5C { #expect(Self.taken(changed + [0x22]) == expected, "\(byte) at \(place)") }
            guard byte < 0x80 else { continue }
            var writer = JSONWriter()
            writer.string(validUTF8: changed)
            #expect((try? JSONDocument(parsing: writer.bytes, maxDepth: 1, maxNodes: 2))?.root.stringBytes == changed)
        }
        var escaped = text
        escaped.insert(contentsOf: [0x5C, UInt8(ascii: "n")], at: place)
        var resolved = text
        resolved.insert(0x0A, at: place)
        #expect(Self.taken(escaped + [0x22]) == resolved)
        let document = try? JSONDocument(parsing: [0x22] + escaped + [0x22], maxDepth: 1, maxNodes: 2)
        #expect(document?.root.stringBytes == resolved)
    }
}
