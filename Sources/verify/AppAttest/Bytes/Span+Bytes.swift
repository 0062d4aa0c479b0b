internal import Crypto
internal import JSON

/// Reading parts of a borrowed buffer by offset. Ranges come from a reader that has checked them against the buffer.
extension Span where Element == UInt8 {
    /// Whether the bytes of `range` are exactly the UTF-8 bytes of `text`.
    func holds(_ text: String, in range: Range<Int>) -> Bool {
        Bytes.areEqual(extracting(range), text)
    }

    func holds(_ expected: [UInt8], in range: Range<Int>) -> Bool {
        Bytes.areEqual(extracting(range), expected.span)
    }

    /// Whether two parts of this buffer have the same bytes.
    func same(_ first: Range<Int>, _ second: Range<Int>) -> Bool {
        Bytes.areEqual(extracting(first), extracting(second))
    }

    func array(_ range: Range<Int>) -> [UInt8] { Bytes.copy(extracting(range)) }

    /// The bytes of `range` as a digest-sized value; nil unless there are 32.
    func digest(_ range: Range<Int>) -> Digest? { Digest(extracting(range)) }

    /// The bytes of `range` as text; nil unless they are UTF-8.
    func text(_ range: Range<Int>) -> ExactText? { ExactText(validating: array(range)) }

    /// The number that `count` decimal digits from `start` on write; nil for any other byte among them.
    func decimal(_ start: Int, _ count: Int) -> Int? {
        var value = 0
        for index in start..<(start + count) {
            let digit = self[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int(digit)
        }
        return value
    }

    /// The big-endian unsigned number of the bytes of `range`; nil beyond 4 bytes.
    func bigEndian(_ range: Range<Int>) -> UInt32? {
        guard range.count <= 4 else { return nil }
        var value: UInt32 = 0
        for index in range { value = value << 8 | UInt32(self[index]) }
        return value
    }

    /// The little-endian unsigned number of the bytes of `range`; nil beyond 4 bytes.
    func littleEndian(_ range: Range<Int>) -> UInt32? {
        guard range.count <= 4 else { return nil }
        var value: UInt32 = 0
        for index in range.reversed() { value = value << 8 | UInt32(self[index]) }
        return value
    }
}
