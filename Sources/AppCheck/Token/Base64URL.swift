internal import JSON

/// Base64url as JWTs have it (RFC 7515): URL-safe alphabet, no padding.
enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text = Base64.encode(bytes)
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        var characters = text.mutableSpan
        for index in characters.indices {
            let character = characters[index]
            if character == UInt8(ascii: "+") { characters[index] = UInt8(ascii: "-") }
            if character == UInt8(ascii: "/") { characters[index] = UInt8(ascii: "_") }
        }
        return text
    }

    /// - Returns: nil for the other alphabet, padding, and bits left over.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let isForeign = text.contains { character in
            character == UInt8(ascii: "+") || character == UInt8(ascii: "/") || character == UInt8(ascii: "=")
        }
        return isForeign ? nil : Base64.decode(Array(text))
    }
}
