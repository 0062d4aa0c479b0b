/// Escapes inside JSON strings, one at a time.
enum JSONEscape {
    /// The scalar of the escape at `text[index]`; `index` moves past it.
    ///
    /// - Precondition: ``check(_:at:)`` has accepted this escape.
    static func read(_ text: Span<UInt8>, at index: inout Int) -> UInt32 {
        let kind = text[index + 1]
        guard kind == UInt8(ascii: "u") else {
            index += 2
            return UInt32(short(kind) ?? kind)
        }
        let unit = UInt32(hex(text, at: index + 2) ?? 0xFFFD)
        index += 6
        guard unit & 0xFC00 == 0xD800 else { return unit }
        let low = UInt32(hex(text, at: index + 2) ?? 0xDC00)
        index += 6
        return 0x10000 + ((unit & 0x3FF) << 10 | low & 0x3FF)
    }

    /// Whether a text, its escapes resolved, is `name`, which is ASCII. It ends at the first byte that differs.
    ///
    /// - Precondition: the parser has accepted the text.
    static func resolves(_ text: Span<UInt8>, to name: Span<UInt8>) -> Bool {
        // An escape has six bytes a byte of ASCII at most.
        guard text.count <= 6 * name.count else { return false }
        var (index, count) = (0, 0)
        while index < text.count {
            guard count < name.count else { return false }
            if text[index] == UInt8(ascii: "\\") {
                guard read(text, at: &index) == UInt32(name[count]) else { return false }
            } else {
                guard text[index] == name[count] else { return false }
                index += 1
            }
            count += 1
        }
        return count == name.count
    }

    /// The index after the escape that starts at `text[start]`, a backslash; nil for an escape that RFC 8259 does not
    /// define, or an unpaired surrogate.
    static func check(_ text: Span<UInt8>, at start: Int) -> Int? {
        guard start + 1 < text.count else { return nil }
        let kind = text[start + 1]
        if short(kind) != nil { return start + 2 }
        guard kind == UInt8(ascii: "u"), let unit = hex(text, at: start + 2) else { return nil }
        if unit & 0xFC00 == 0xDC00 { return nil }
        guard unit & 0xFC00 == 0xD800 else { return start + 6 }
        guard start + 7 < text.count, text[start + 6] == UInt8(ascii: "\\"), text[start + 7] == UInt8(ascii: "u"),
            let low = hex(text, at: start + 8), low & 0xFC00 == 0xDC00
        else { return nil }
        return start + 12
    }

    /// The byte that a two-character escape stands for.
    @inline(__always)
    static func short(_ kind: UInt8) -> UInt8? {
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): kind
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        default: nil
        }
    }

    /// The value of four hexadecimal digits; nil unless four are there.
    private static func hex(_ text: Span<UInt8>, at start: Int) -> UInt16? {
        guard start + 4 <= text.count else { return nil }
        var value: UInt16 = 0
        for index in start..<(start + 4) {
            let digit: UInt8
            switch text[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = text[index] - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = text[index] - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = text[index] - UInt8(ascii: "A") + 10
            default: return nil
            }
            value = value << 4 | UInt16(digit)
        }
        return value
    }

    /// Calls `body` with each byte: at most four for a scalar below 0x110000.
    @inline(__always)
    static func forEachUTF8Byte(of scalar: UInt32, _ body: (UInt8) -> Void) {
        func low(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: scalar >> shift & 0x3F | 0x80) }
        if scalar < 0x80 {
            body(UInt8(truncatingIfNeeded: scalar))
        } else if scalar < 0x800 {
            body(UInt8(truncatingIfNeeded: scalar >> 6 | 0xC0))
            body(low(0))
        } else if scalar < 0x10000 {
            body(UInt8(truncatingIfNeeded: scalar >> 12 | 0xE0))
            body(low(6))
            body(low(0))
        } else {
            body(UInt8(truncatingIfNeeded: scalar >> 18 | 0xF0))
            body(low(12))
            body(low(6))
            body(low(0))
        }
    }

    /// The escape for a quote, a backslash or a control character: its bytes from the lowest of `word` up.
    @inline(__always)
    static func written(for byte: UInt8) -> (word: UInt64, count: Int) {
        func pair(_ kind: UInt8) -> (UInt64, Int) { (0x5C | UInt64(kind) << 8, 2) }
        switch byte {
        case 0x22, 0x5C: return pair(byte)
        case 0x0A: return pair(UInt8(ascii: "n"))
        case 0x09: return pair(UInt8(ascii: "t"))
        case 0x0D: return pair(UInt8(ascii: "r"))
        case 0x08: return pair(UInt8(ascii: "b"))
        case 0x0C: return pair(UInt8(ascii: "f"))
        default:
            // Upper-case digits, as kcat writes them.
            let low = byte & 0x0F
            let digit = low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "A") + low - 10
            let prefix: UInt64 = 0x0000_3030_755C  // \u00
            return (prefix | UInt64(UInt8(ascii: "0") + byte >> 4) << 32 | UInt64(digit) << 40, 6)
        }
    }
}
