/// A cursor that walks BER (X.690 section 8) of a known shape, element by element, without recursion.
///
/// Lengths may be indefinite; definite ones must be as short as they can be. It keeps offsets only; the buffer is lent
/// to each call. Every fault is `malformed`.
struct BERReader {
    private(set) var position: Int
    /// Nothing at or past this offset belongs to the element that is open.
    private var limit: Int

    /// An element whose content is being read; `leave` closes it.
    struct Frame {
        fileprivate let outerLimit: Int
        fileprivate let isIndefinite: Bool
    }

    init(_ range: Range<Int>) {
        position = range.lowerBound
        limit = range.upperBound
    }

    /// Whether an element with this identifier octet comes next; never true at the end of the open element.
    func isNext(_ tag: UInt8, _ bytes: Span<UInt8>) -> Bool {
        position < limit && bytes[position] == tag
    }

    /// Opens a constructed element.
    mutating func enter(_ tag: UInt8, _ bytes: Span<UInt8>) throws(ReceiptRefusal) -> Frame {
        let outerLimit = limit
        guard let length = try head(tag, bytes) else { return Frame(outerLimit: outerLimit, isIndefinite: true) }
        limit = position + length
        return Frame(outerLimit: outerLimit, isIndefinite: false)
    }

    /// Closes an element, which must have been read to its end.
    mutating func leave(_ frame: Frame, _ bytes: Span<UInt8>) throws(ReceiptRefusal) {
        if frame.isIndefinite {
            // End-of-contents octets.
            guard limit - position >= 2, bytes[position] == 0, bytes[position + 1] == 0 else { throw .malformed }
            position += 2
        } else {
            guard position == limit else { throw .malformed }
        }
        limit = frame.outerLimit
    }

    /// The content of an element of definite length.
    mutating func content(_ tag: UInt8, _ bytes: Span<UInt8>) throws(ReceiptRefusal) -> Range<Int> {
        guard let length = try head(tag, bytes) else { throw .malformed }
        defer { position += length }
        return position..<(position + length)
    }

    /// An element of definite length, header and content.
    mutating func whole(_ tag: UInt8, _ bytes: Span<UInt8>) throws(ReceiptRefusal) -> Range<Int> {
        let start = position
        return try start..<content(tag, bytes).upperBound
    }

    /// Exactly these bytes.
    mutating func expect(_ expected: [UInt8], _ bytes: Span<UInt8>) throws(ReceiptRefusal) {
        guard expected.count <= limit - position, bytes.holds(expected, in: position..<(position + expected.count))
        else { throw .malformed }
        position += expected.count
    }

    func expectEnd() throws(ReceiptRefusal) {
        guard position == limit else { throw .malformed }
    }

    /// Reads identifier and length octets. A definite length fits into the open element.
    ///
    /// - Returns: nil for the indefinite length.
    private mutating func head(_ tag: UInt8, _ bytes: Span<UInt8>) throws(ReceiptRefusal) -> Int? {
        guard limit - position >= 2, bytes[position] == tag else { throw .malformed }
        let first = bytes[position + 1]
        position += 2
        if first == 0x80 { return nil }
        var length = Int(first)
        if first > 0x80 {
            let count = Int(first & 0x7F)
            // Two octets name 64 KiB, many times the longest receipt.
            guard count <= 2, count <= limit - position else { throw .malformed }
            length = 0
            for index in 0..<count { length = length << 8 | Int(bytes[position + index]) }
            guard length >= (count == 1 ? 0x80 : 0x100) else { throw .malformed }
            position += count
        }
        guard length <= limit - position else { throw .malformed }
        return length
    }
}
