internal import JSON

/// Base64url as JWTs have it (RFC 7515): URL-safe alphabet, no padding.
enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text = Base64.encode(bytes)
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        for index in text.indices {
            let character = text[index]
            if character == UInt8(ascii: "+") { text[index] = UInt8(ascii: "-") }
            if character == UInt8(ascii: "/") { text[index] = UInt8(ascii: "_") }
        }
        return text
    }

    /// - Returns: nil for the other alphabet, padding, and bits left over.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let isForeign = text.contains { [UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "=")].contains($0) }
        return isForeign ? nil : Base64.decode(Array(text))
    }
}
