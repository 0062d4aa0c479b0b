/// Reads deterministic CBOR straight through: the shortest heads, definite lengths, nothing nested that is not asked for.
///
/// A nil says that something else stands there. Where a reader stops then does not matter: the value is read again by
/// the general decoder.
struct PlainReader {
    private(set) var offset: Int
    private let end: Int

    enum Major: UInt8 { case unsigned = 0, bytes = 2, text, array, map }

    /// - Parameter range: nothing outside is read.
    init(_ range: Range<Int>) { (offset, end) = (range.lowerBound, range.upperBound) }

    var isAtEnd: Bool { offset == end }

    /// Goes over one byte that must be the next.
    @inline(__always)
    mutating func skip(_ byte: UInt8, _ bytes: Span<UInt8>) -> Bool {
        guard offset < end, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    /// Goes over a head with its number in the same byte, or in the shortest number of bytes after it.
    @inline(__always)
    mutating func head(_ major: Major, _ bytes: Span<UInt8>) -> UInt64? {
        guard offset < end else { return nil }
        let first = bytes[offset]
        guard first >> 5 == major.rawValue else { return nil }
        let information = first & 0x1F
        offset += 1
        return information < 24 ? UInt64(information) : longNumber(information, bytes)
    }

    private mutating func longNumber(_ information: UInt8, _ bytes: Span<UInt8>) -> UInt64? {
        guard information <= 27 else { return nil }
        let width = 1 << Int(information - 24)
        guard width <= end - offset else { return nil }
        var value: UInt64 = 0
        for index in offset..<offset + width { value = value << 8 | UInt64(bytes[index]) }
        offset += width
        // The smallest number that needs this many bytes: 24, then 2⁸, 2¹⁶, 2³².
        let least: UInt64 = width == 1 ? 24 : 1 << UInt64(4 * width)
        return value < least ? nil : value
    }

    /// The bytes of a string.
    @inline(__always)
    mutating func string(_ major: Major, _ bytes: Span<UInt8>) -> Range<Int>? {
        guard let count = head(major, bytes), count <= UInt64(end - offset) else { return nil }
        let start = offset
        offset += Int(count)
        return start..<offset
    }

    @inline(__always)
    mutating func word(_ bytes: Span<UInt8>) -> UInt32? { head(.unsigned, bytes).flatMap { UInt32(exactly: $0) } }
}
