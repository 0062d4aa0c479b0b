/// The strict reader of `SEQUENCE { r INTEGER, s INTEGER }`: X.690 DER, short lengths, positive integers.
struct DERSignature {
    /// The magnitudes without their sign byte, as offsets into the input.
    let r: Range<Int>
    let s: Range<Int>

    private static let sequenceTag: UInt8 = 0x30
    private static let integerTag: UInt8 = 0x02

    /// - Parameter scalarBytes: the longest magnitude, 32 or 48 bytes; every length then fits the short form.
    /// - Returns: nil for any other spelling, for trailing bytes, zero and negative numbers.
    init?(_ bytes: Span<UInt8>, scalarBytes: Int) {
        guard bytes.count >= 2, bytes[0] == Self.sequenceTag, Int(bytes[1]) == bytes.count - 2, bytes[1] < 0x80,
            let r = Self.magnitude(bytes, at: 2, atMost: scalarBytes),
            let s = Self.magnitude(bytes, at: r.upperBound, atMost: scalarBytes),
            s.upperBound == bytes.count
        else { return nil }
        (self.r, self.s) = (r, s)
    }

    private static func magnitude(_ bytes: Span<UInt8>, at start: Int, atMost limit: Int) -> Range<Int>? {
        guard start + 2 < bytes.count, bytes[start] == integerTag else { return nil }
        let first = start + 2
        let length = Int(bytes[start + 1])
        guard length >= 1, length < 0x80, length <= bytes.count - first, bytes[first] < 0x80 else { return nil }
        let end = first + length
        guard bytes[first] == 0 else { return length <= limit ? first..<end : nil }
        // A zero byte may only stand before a byte with the top bit set; alone it is the number zero.
        guard length >= 2, bytes[first + 1] >= 0x80, length - 1 <= limit else { return nil }
        return (first + 1)..<end
    }
}
