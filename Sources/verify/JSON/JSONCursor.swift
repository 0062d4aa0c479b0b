/// Reads ordinary JSON text in one pass and without nodes: what almost every record is.
///
/// It understands less than ``JSONDocument`` and never more: strings without escapes and of ASCII, integers, literals.
/// nil means that the text is unusual or wrong, which the document's parser then judges.
package struct JSONCursor {
    private var position: Int
    private let end: Int

    /// - Parameter range: the text's part of the bytes that every call gets.
    package init(_ range: Range<Int>) { (position, end) = (range.lowerBound, range.upperBound) }

    /// Whether only white space is left.
    package mutating func isAtEnd(_ text: Span<UInt8>) -> Bool {
        skipWhiteSpace(text)
        return position == end
    }

    /// Takes `byte`, a sign of the syntax, and the white space around it.
    package mutating func take(_ byte: Unicode.Scalar, _ text: Span<UInt8>) -> Bool {
        skipWhiteSpace(text)
        guard position < end, text[position] == UInt8(ascii: byte) else { return false }
        position &+= 1
        skipWhiteSpace(text)
        return true
    }

    /// Takes a string; the range is what stands between the quotes.
    package mutating func string(_ text: Span<UInt8>) -> Range<Int>? {
        guard position < end, text[position] == UInt8(ascii: "\"") else { return nil }
        let start = position &+ 1
        let stop = ByteScan.endOfPlainRun(text, from: start)
        guard stop < end, text[stop] == UInt8(ascii: "\"") else { return nil }
        position = stop &+ 1
        return start..<stop
    }

    /// Takes a string, and leaves its bytes in `scratch`, two-character escapes resolved. Bytes that are not UTF-8 are
    /// taken as they are.
    package mutating func string(_ text: Span<UInt8>, into scratch: inout ByteScratch) -> Bool {
        guard position < end, text[position] == UInt8(ascii: "\"") else { return false }
        let start = position &+ 1
        guard let stop = scratch.unescape(text.extracting(..<end), from: start) else { return false }
        position = stop &+ 1
        return true
    }

    /// Takes an integer from 0 to 999,999,999,999,999,999.
    package mutating func integer(_ text: Span<UInt8>) -> Int64? {
        let start = position
        var value: Int64 = 0
        while position < end, case UInt8(ascii: "0")...UInt8(ascii: "9") = text[position] {
            guard position &- start < 18 else { return nil }
            value = value &* 10 &+ Int64(text[position] &- UInt8(ascii: "0"))
            position &+= 1
        }
        // No leading zero.
        guard position > start, text[start] != UInt8(ascii: "0") || position == start &+ 1 else { return nil }
        return value
    }

    /// Takes `true` or `false`.
    package mutating func bool(_ text: Span<UInt8>) -> Bool? {
        for (word, value) in [("true" as StaticString, true), ("false", false)] {
            let stop = position &+ word.utf8CodeUnitCount
            if stop <= end, Self.holds(word, text.extracting(position..<stop)) {
                position = stop
                return value
            }
        }
        return nil
    }

    /// Whether `text` is `word`.
    @inline(__always)
    package static func holds(_ word: StaticString, _ text: Span<UInt8>) -> Bool {
        guard text.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { buffer in
            // A static string's buffer is never freed.
            ByteScan.areEqual(text, unsafe Span(_unsafeElements: buffer))
        }
    }

    @inline(__always)
    private mutating func skipWhiteSpace(_ text: Span<UInt8>) {
        while position < end, text[position] <= 0x20 {
            switch text[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position &+= 1
            default: return
            }
        }
    }
}
