/// The access control list of a macOS key, leaf extension 1.2.840.113635.100.8.6.
enum AccessControl {
    /// Apple's published value for Macs with System Integrity Protection and Full Security; the only trusted one.
    private static let macPolicy: [UInt8] = [
        0x30, 0x40, 0x0C, 0x02, 0x31, 0x31, 0x30, 0x3A,
        0x30, 0x09, 0x0C, 0x02, 0x6F, 0x6B, 0xA1, 0x03, 0x01, 0x01, 0xFF,
        0x30, 0x09, 0x0C, 0x02, 0x6F, 0x61, 0xA1, 0x03, 0x01, 0x01, 0xFF,
        0x30, 0x0B, 0x0C, 0x04, 0x6F, 0x64, 0x65, 0x6C, 0xA1, 0x03, 0x01, 0x01, 0xFF,
        0x30, 0x15, 0x0C, 0x04, 0x6F, 0x73, 0x67, 0x6E, 0xA0, 0x06, 0x0C, 0x04, 0x72, 0x73, 0x65, 0x63,
        0x30, 0x05, 0xA6, 0x03, 0x02, 0x01, 0x01,
    ]
    /// SEQUENCE { [3] EXPLICIT OCTET STRING (66) } up to the policy's first byte.
    private static let header: [UInt8] = [0x30, 0x46, 0xA3, 0x44, 0x04, 0x42]

    /// The extension's one trusted value.
    static var expected: [UInt8] { header + macPolicy }

    /// Judges a Mac's leaf. The extension must be present: a check that passes without it would check nothing.
    static func judge(_ extensions: LeafExtensions, _ bytes: Span<UInt8>) throws(Refusal) {
        guard let value = extensions.accessControl else { throw .aclMissing }
        let split = value.lowerBound + min(header.count, value.count)
        guard bytes.holds(header, in: value.lowerBound..<split), bytes.holds(macPolicy, in: split..<value.upperBound)
        else { throw .aclMismatch }
    }
}
