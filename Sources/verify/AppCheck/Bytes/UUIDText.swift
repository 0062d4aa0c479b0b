internal import AppAttest

/// UUIDs as texts (RFC 9562): 32 hexadecimal digits in five groups, with hyphens between them.
enum UUIDText {
    /// - Returns: the 16 bytes; nil for any other text.
    static func bytes(_ text: [UInt8]) -> [UInt8]? {
        let hyphen = UInt8(ascii: "-")
        guard text.count == 36, [8, 13, 18, 23].allSatisfy({ text[$0] == hyphen }) else { return nil }
        let digits = text.filter { $0 != hyphen }
        return digits.count == 32 ? Hexadecimal.decode(digits) : nil
    }
}
