/// A request ID in 24 bytes, as the usual producers write it: a UUID, 32 characters of base64url (this program's gateway),
/// the place of a record that has none (`topic/partition/offset`), or at most 23 bytes of text.
struct PackedID {
    enum Form: UInt8 {
        case text, uuid, upperUUID, base64, place
        /// The ID lies beside the table.
        case other
    }
    typealias Words = (UInt64, UInt64, UInt64)

    private static let mostTextBytes = 23
    /// Kafka's own limit.
    private static let mostTopicBytes = 249

    let form: Form
    let words: Words

    static let other = PackedID(.other, (0, 0, 0))

    init(_ form: Form, _ words: Words) { (self.form, self.words) = (form, words) }

    /// - Parameter topics: numbers of topics.
    /// - Returns: nil for other IDs, and for bytes that are not UTF-8.
    init?(_ utf8: Span<UInt8>, _ topics: inout Interner) {
        if utf8.count == 36, let words = Self.uuid(utf8, UInt8(ascii: "a")) {
            self.init(.uuid, words)
        } else if utf8.count == 36, let words = Self.uuid(utf8, UInt8(ascii: "A")) {
            self.init(.upperUUID, words)
        } else if utf8.count == 32, let words = Self.base64(utf8) {
            self.init(.base64, words)
        } else if utf8.count <= Self.mostTextBytes {
            let words = (Self.word(0, 7, UInt64(utf8.count), utf8), Self.word(7, 8, 0, utf8), Self.word(15, 8, 0, utf8))
            // The length has no top bit: one in any byte marks text beyond ASCII.
            let isASCII = (words.0 | words.1 | words.2) & 0x8080_8080_8080_8080 == 0
            guard isASCII || (try? UTF8Span(validating: utf8)) != nil else { return nil }
            self.init(.text, words)
        } else {
            guard let offset = Self.number(before: utf8.count, utf8),
                let partition = Self.number(before: offset.slash, utf8), partition.slash <= Self.mostTopicBytes,
                let topic = topics.number(of: utf8.extracting(0..<partition.slash))
            else { return nil }
            self.init(.place, (UInt64(topic), partition.value, offset.value))
        }
    }

    private static func word(_ start: Int, _ width: Int, _ first: UInt64, _ utf8: Span<UInt8>) -> UInt64 {
        var value = first
        for index in start..<start + width { value = value << 8 | (index < utf8.count ? UInt64(utf8[index]) : 0) }
        return value
    }

    /// The number that stands before a place, after a slash, without leading zeros.
    private static func number(before end: Int, _ utf8: Span<UInt8>) -> (slash: Int, value: UInt64)? {
        var (place, value, unit): (Int, UInt64, UInt64) = (end, 0, 1)
        while place > 0, end - place < 19, case let digit = utf8[place - 1] &- UInt8(ascii: "0"), digit < 10 {
            (place, value, unit) = (place - 1, value + UInt64(digit) * unit, unit &* 10)
        }
        guard place > 0, place < end, utf8[place - 1] == UInt8(ascii: "/"),
            utf8[place] != UInt8(ascii: "0") || end - place == 1
        else { return nil }
        return (place - 1, value)
    }

    private static func uuid(_ utf8: Span<UInt8>, _ ten: UInt8) -> Words? {
        let dash = UInt8(ascii: "-")
        guard utf8[8] == dash, utf8[13] == dash, utf8[18] == dash, utf8[23] == dash,
            let first = hexadecimal(utf8, 0, 8, ten), let second = hexadecimal(utf8, 9, 13, ten),
            let third = hexadecimal(utf8, 14, 18, ten), let fourth = hexadecimal(utf8, 19, 23, ten),
            let fifth = hexadecimal(utf8, 24, 36, ten)
        else { return nil }
        return (first << 32 | second << 16 | third, fourth << 48 | fifth, 0)
    }

    /// - Parameter ten: the letter of this value.
    @inline(__always)
    private static func hexadecimal(_ utf8: Span<UInt8>, _ start: Int, _ end: Int, _ ten: UInt8) -> UInt64? {
        var (value, isValid): (UInt64, Bool) = (0, true)
        for index in start..<end {
            let (digit, letter) = (utf8[index] &- UInt8(ascii: "0"), utf8[index] &- ten)
            isValid = isValid && (digit < 10 || letter < 6)
            value = value << 4 | UInt64(digit < 10 ? digit : letter &+ 10)
        }
        return isValid ? value : nil
    }

    private static func base64(_ utf8: Span<UInt8>) -> Words? {
        var words: Words = (0, 0, 0)
        for index in 0..<32 {
            let byte = utf8[index]
            let (upper, lower, digit) = (
                byte &- UInt8(ascii: "A"), byte &- UInt8(ascii: "a"), byte &- UInt8(ascii: "0")
            )
            let code: UInt8
            if upper < 26 {
                code = upper
            } else if lower < 26 {
                code = lower + 26
            } else if digit < 10 {
                code = digit + 52
            } else {
                guard byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") else { return nil }
                code = byte == UInt8(ascii: "-") ? 62 : 63
            }
            words = (words.0 << 6 | words.1 >> 58, words.1 << 6 | words.2 >> 58, words.2 << 6 | UInt64(code))
        }
        return words
    }
}

extension PackedID {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// - Returns: nil for an ID that lies beside the table.
    func bytes(_ topics: Interner) -> [UInt8]? {
        switch form {
        case .other: return nil
        case .text: return (1...Self.mostTextBytes).prefix(Int(words.0 >> 56)).map(byte)
        case .uuid, .upperUUID:
            let ten = UInt8(ascii: form == .uuid ? "a" : "A")
            return (0..<32).flatMap { place -> [UInt8] in
                let nibble = byte(place / 2) >> (place % 2 == 0 ? 4 : 0) & 15
                let digit = nibble < 10 ? UInt8(ascii: "0") + nibble : ten + nibble - 10
                return [8, 12, 16, 20].contains(place) ? [UInt8(ascii: "-"), digit] : [digit]
            }
        case .base64:
            return (0..<8).flatMap { group in
                let bits = (0..<3).reduce(0) { $0 << 8 | Int(byte(3 * group + $1)) }
                return [18, 12, 6, 0].map { Self.alphabet[bits >> $0 & 63] }
            }
        case .place:
            let topic = topics.text(UInt32(truncatingIfNeeded: words.0)) ?? ""
            return Array("\(topic)/\(words.1)/\(words.2)".utf8)
        }
    }

    private func byte(_ index: Int) -> UInt8 {
        let word = index < 8 ? words.0 : index < 16 ? words.1 : words.2
        return UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * (index % 8)))
    }
}
