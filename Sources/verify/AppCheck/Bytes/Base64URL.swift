internal import JSON

/// Base64url as JWTs have it (RFC 7515): URL-safe alphabet, no padding.
enum Base64URL {
    /// - Returns: nil for the other alphabet, padding, and bits left over.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let isForeign = text.contains { character in
            character == UInt8(ascii: "+") || character == UInt8(ascii: "/") || character == UInt8(ascii: "=")
        }
        return isForeign ? nil : Base64.decode(Array(text))
    }
}
