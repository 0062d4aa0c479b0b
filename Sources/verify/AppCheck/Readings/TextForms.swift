internal import AppAttest
internal import JSON

/// Texts that stand for bytes, as apps and servers write them.
package enum TextForms {
    /// The base64 texts of some bytes: both alphabets, padded and not.
    static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
        let (standard, url) = (Base64.encode(bytes), Base64.encodeURL(bytes))
        let padding = standard[url.count...]
        let all = [standard, Array(standard.prefix(url.count)), url, url + padding]
        return all.reduce(into: []) { texts, text in if !texts.contains(text) { texts.append(text) } }
    }

    /// The hex texts of some bytes, in small and in capital letters.
    static func hex(_ bytes: [UInt8]) -> [[UInt8]] {
        let text = ReportValue.bytes(bytes).description
        return [Array(text.utf8), Array(text.uppercased().utf8)]
    }

    /// A UUID as its bytes and as text, with hyphens and without; none for anything else.
    static func uuids(_ data: [UInt8]) -> [[UInt8]] {
        let hyphen = UInt8(ascii: "-")
        let isHyphenated = data.count == 36 && [8, 13, 18, 23].allSatisfy { data[$0] == hyphen }
        let bytes = data.count == 16 ? data : hexDecoded(isHyphenated ? data.filter { $0 != hyphen } : data)
        guard let bytes, bytes.count == 16 else { return [] }
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        let texts = hex(bytes)
        return [bytes] + texts + texts.map { text in Array(groups.map { text[$0] }.joined(separator: [hyphen])) }
    }

    /// A text percent-encoded by the rules in use, and decoded, as a form too.
    static func percentForms(_ text: [UInt8]) -> [[UInt8]] {
        func encoded(_ kept: String, isForm: Bool = false) -> [UInt8] {
            text.flatMap { byte -> [UInt8] in
                let isKept = kept.utf8.contains(byte) || hexDigit(byte) != nil || (0x41...0x5A).contains(byte & 0xDF)
                if isForm, byte == 0x20 { return [UInt8(ascii: "+")] }
                return isKept ? [byte] : [UInt8(ascii: "%")] + hex([byte])[1]
            }
        }
        func decoded(isForm: Bool) -> [UInt8] {
            var (result, rest) = ([UInt8](), text[...])
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "%"), rest.count > 1, let value = hexDecoded(Array(rest.prefix(2))) {
                    result += value
                    rest.removeFirst(2)
                } else {
                    result.append(isForm && byte == UInt8(ascii: "+") ? 0x20 : byte)
                }
            }
            return result
        }
        return [encoded("-_.~"), encoded("-_.~/"), encoded("-_.!~*'()"), encoded("-_.*", isForm: true)]
            + [decoded(isForm: false), decoded(isForm: true)]
    }

    /// - Returns: nil unless the text is hex of at least one byte.
    package static func hexDecoded(_ text: [UInt8]) -> [UInt8]? {
        guard !text.isEmpty, text.count.isMultiple(of: 2) else { return nil }
        let values = text.compactMap(hexDigit)
        guard values.count == text.count else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    private static func hexDigit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// The bytes that a text of base64 or hex stands for; none where it is neither.
    static func decoded(_ text: [UInt8]) -> [[UInt8]] {
        [hexDecoded(text), text.isEmpty ? nil : Base64.decode(text)].compactMap(\.self)
    }
}
