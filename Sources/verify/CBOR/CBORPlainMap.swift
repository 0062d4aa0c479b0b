/// A small map as devices write it: text keys of ASCII, values that are byte strings, texts of ASCII or unsigned numbers,
/// all heads as short as possible. Read without an array.
///
/// It understands less than ``CBORReader`` and never more: nil leaves the bytes to the reader.
package struct CBORPlainMap {
    private static let mostEntries = 4

    /// Offsets and lengths in 16 bits: the map is passed on by copies.
    private struct Entry {
        var (key, keyCount): (UInt16, UInt16) = (0, 0)
        var kind = Kind.unsigned
        /// The start of a string, or the number.
        var value: UInt16 = 0
        var valueCount: UInt16 = 0

        var name: Range<Int> { Int(key)..<Int(key) + Int(keyCount) }
        var content: Range<Int> { Int(value)..<Int(value) + Int(valueCount) }
    }

    private var entries = InlineArray<4, Entry>(repeating: Entry())
    private var count = 0

    /// - Parameter range: the part of `bytes` that must be exactly one map.
    package init?(_ bytes: Span<UInt8>, in range: Range<Int>) {
        guard range.upperBound <= Int(UInt16.max) else { return nil }
        var offset = range.lowerBound
        guard case (.map, let entryCount)? = Self.head(bytes, &offset, range.upperBound),
            entryCount <= Self.mostEntries
        else { return nil }
        for index in 0..<entryCount {
            guard let key = Self.item(bytes, &offset, range.upperBound), key.kind == .text, !has(key.content, bytes),
                var entry = Self.item(bytes, &offset, range.upperBound)
            else { return nil }
            (entry.key, entry.keyCount) = (key.value, key.valueCount)
            entries[index] = entry
            count += 1
        }
        guard offset == range.upperBound else { return nil }
    }

    /// The value of the member with this key; keys are unique.
    package func value(of name: String, _ bytes: Span<UInt8>) -> CBORItem? {
        let expected = name.utf8Span.span
        for index in 0..<count where Self.areEqual(bytes.extracting(entries[index].name), expected) {
            let entry = entries[index]
            switch entry.kind {
            case .unsigned: return .unsigned(UInt64(entry.value))
            case .bytes: return .bytes(entry.content)
            case .text: return .text(entry.content)
            case .map: return nil
            }
        }
        return nil
    }

    private func has(_ key: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        for index in 0..<count where Self.areEqual(bytes.extracting(entries[index].name), bytes.extracting(key)) {
            return true
        }
        return false
    }

    static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    private enum Kind: UInt8 { case unsigned, bytes, text, map }

    private static func item(_ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int) -> Entry? {
        guard let (kind, value) = head(bytes, &offset, end) else { return nil }
        var entry = Entry()
        entry.kind = kind
        switch kind {
        case .unsigned: entry.value = UInt16(value)
        case .map: return nil
        case .bytes, .text:
            // Longer keys are refused; longer texts are rare.
            guard value <= end - offset, kind == .bytes || value <= 64 else { return nil }
            (entry.value, entry.valueCount) = (UInt16(offset), UInt16(value))
            offset += value
            if kind == .text { for index in entry.content where bytes[index] >= 0x80 { return nil } }
        }
        return entry
    }

    /// A head of one to three bytes, as short as its number allows.
    private static func head(_ bytes: Span<UInt8>, _ offset: inout Int, _ end: Int) -> (Kind, Int)? {
        guard offset < end else { return nil }
        let first = bytes[offset]
        let kind: Kind
        switch first >> 5 {
        case 0: kind = .unsigned
        case 2: kind = .bytes
        case 3: kind = .text
        case 5: kind = .map
        default: return nil
        }
        let information = Int(first & 0x1F)
        switch information {
        case 0..<24:
            offset += 1
            return (kind, information)
        case 24:
            guard offset + 1 < end, bytes[offset + 1] >= 24 else { return nil }
            defer { offset += 2 }
            return (kind, Int(bytes[offset + 1]))
        case 25:
            guard offset + 2 < end, bytes[offset + 1] > 0 else { return nil }
            defer { offset += 3 }
            return (kind, Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2]))
        default: return nil
        }
    }
}
