/// The percent-encoding of RFC 3986.
package enum PercentCoding {
    /// - Parameter allows: whether a byte may stand there, and whether it came as an escape.
    /// - Returns: nil for an escape that is malformed, and for a byte that is not allowed.
    package static func decode(
        _ text: ArraySlice<UInt8>,
        allows: (_ byte: UInt8, _ isEscaped: Bool) -> Bool = { _, _ in true }
    ) -> [UInt8]? {
        var (rest, bytes) = (text, [UInt8]())
        bytes.reserveCapacity(text.count)
        while var byte = rest.popFirst() {
            let isEscaped = byte == UInt8(ascii: "%")
            if isEscaped {
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
                else { return nil }
                byte = high << 4 | low
            }
            guard allows(byte, isEscaped) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
