/// An unsigned number of 384 bits as the batch code reads it: six words, the most significant first.
package struct P384Number {
    static let wordCount = 6
    static let byteCount = 48

    private var words: InlineArray<6, UInt64> = .init(repeating: 0)

    subscript(index: Int) -> UInt64 { words[index] }

    var array: [UInt64] { words.indices.map { words[$0] } }

    /// A big-endian number of at most 48 bytes.
    ///
    /// - Returns: nil for more bytes.
    package init?(leftPadding bytes: Span<UInt8>) {
        guard bytes.count <= Self.byteCount else { return nil }
        var place = Self.byteCount - bytes.count
        for index in bytes.indices {
            words[place / 8] |= UInt64(bytes[index]) << UInt64(56 - 8 * (place % 8))
            place += 1
        }
    }

    /// The number that ECDSA over P-384 makes of a SHA-256 digest.
    package init(_ digest: Digest) {
        (words[2], words[3], words[4], words[5]) = digest.words
    }
}
