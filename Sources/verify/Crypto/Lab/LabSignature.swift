/// An ECDSA signature as the lab makes it: both scalars big-endian, as wide as the curve's field.
package struct LabSignature: Hashable, Sendable {
    package var r: [UInt8]
    package var s: [UInt8]

    package init(r: [UInt8], s: [UInt8]) { (self.r, self.s) = (r, s) }

    /// Strict DER: `SEQUENCE { r INTEGER, s INTEGER }`, minimal.
    package var der: [UInt8] {
        var bytes: [UInt8] = []
        // Two INTEGERs of 48 bytes need 102: a short-form length always does.
        bytes.reserveCapacity(r.count + s.count + 8)
        bytes.append(0x30)
        bytes.append(0)
        Self.appendInteger(r, to: &bytes)
        Self.appendInteger(s, to: &bytes)
        bytes[1] = UInt8(bytes.count - 2)
        return bytes
    }

    private static func appendInteger(_ number: [UInt8], to bytes: inout [UInt8]) {
        let start = number.firstIndex { $0 != 0 } ?? number.count
        // A number whose first bit is set, or zero, gets a byte more.
        let hasSign = start == number.count || number[start] >= 0x80
        bytes.append(0x02)
        bytes.append(UInt8(number.count - start + (hasSign ? 1 : 0)))
        if hasSign { bytes.append(0) }
        bytes += number[start...]
    }
}
