internal import AppAttest
internal import JSON

/// Texts that stand for bytes, as apps and servers write them.
enum TextForms {
    /// The base64 texts of some bytes: both alphabets, padded and not.
    static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
        let (standard, url) = (Base64.encode(bytes), Base64.encodeURL(bytes))
        let padding = standard[url.count...]
        let all = [standard, Array(standard.prefix(url.count)), url, url + padding]
        return all.reduce(into: []) { texts, text in if !texts.contains(text) { texts.append(text) } }
    }

    /// The hex texts of some bytes, in small and in capital letters.
    static func hex(_ bytes: [UInt8]) -> [[UInt8]] {
        let text = Hexadecimal.encode(bytes)
        return [Array(text.utf8), Array(text.uppercased().utf8)]
    }

    /// A UUID as its bytes and as text, with hyphens and without; none for anything else.
    static func uuids(_ data: [UInt8]) -> [[UInt8]] {
        let hyphen = UInt8(ascii: "-")
        let bytes = data.count == 16 ? data : UUIDText.bytes(data) ?? Hexadecimal.decode(data)
        guard let bytes, bytes.count == 16 else { return [] }
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        let texts = hex(bytes)
        return [bytes] + texts + texts.map { text in Array(groups.map { text[$0] }.joined(separator: [hyphen])) }
    }

    /// A text percent-encoded by the rules in use, and decoded, as a form too.
    static func percentForms(_ text: [UInt8]) -> [[UInt8]] {
        func encoded(_ kept: String, isForm: Bool = false) -> [UInt8] {
            text.flatMap { byte -> [UInt8] in
                let isKept = (kept + "0123456789").utf8.contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
                if isForm, byte == 0x20 { return [UInt8(ascii: "+")] }
                return isKept ? [byte] : [UInt8(ascii: "%")] + hex([byte])[1]
            }
        }
        func decoded(isForm: Bool) -> [UInt8] {
            var (result, rest) = ([UInt8](), text[...])
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "%"), rest.count > 1, let value = Hexadecimal.decode(Array(rest.prefix(2))) {
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

    /// The bytes that a text of base64 or hex stands for; none where it is neither.
    static func decoded(_ text: [UInt8]) -> [[UInt8]] {
        [Hexadecimal.decode(text), text.isEmpty ? nil : Base64.decode(text)].compactMap(\.self)
    }
}
