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
