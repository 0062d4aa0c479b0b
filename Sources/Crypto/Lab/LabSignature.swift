/// An ECDSA signature as the lab makes it: both scalars big-endian, as wide as the curve's field.
package struct LabSignature: Hashable, Sendable {
    package var r: [UInt8]
    package var s: [UInt8]

    package init(r: [UInt8], s: [UInt8]) {
        self.r = r
        self.s = s
    }

    /// Strict DER: `SEQUENCE { r INTEGER, s INTEGER }`, minimal.
    package var der: [UInt8] {
        let content = Self.integer(r) + Self.integer(s)
        // Two INTEGERs of 48 bytes need 102: a short-form length always does.
        return [0x30, UInt8(content.count)] + content
    }

    private static func integer(_ bytes: [UInt8]) -> [UInt8] {
        var magnitude = bytes.drop { $0 == 0 }
        if magnitude.isEmpty { magnitude = [0] }
        let sign: [UInt8] = (magnitude.first ?? 0) >= 0x80 ? [0] : []
        return [0x02, UInt8(magnitude.count + sign.count)] + sign + magnitude
    }
}
