/// The extensions of an attestation leaf: those of the chain rules, judged, and the positions of Apple's own.
struct LeafExtensions: Sendable {
    /// Values (the content of the OCTET STRING) of 1.2.840.113635.100.8.2, .5, .6 and .7.
    private(set) var nonce: Range<Int>?
    private(set) var keyProperties: Range<Int>?
    private(set) var accessControl: Range<Int>?
    private(set) var osInformation: Range<Int>?

    /// A certificate without extensions.
    init() {}

    /// Far above the seven that Apple writes.
    private static let maxCount = 32

    /// Reads `SEQUENCE OF Extension` (RFC 5280 section 4.2) and judges constraints and key usage.
    init(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(DERFault) {
        var reader = DERReader(try DERReader.only(.sequence, in: range, bytes))
        var seen: [Range<Int>] = []
        repeat {
            let start = reader.position
            var fields = DERReader(try reader.next(.sequence, bytes))
            let identifier = try fields.next(.objectIdentifier, bytes)
            let isCritical = try fields.defaultFalse(bytes)
            let value = try fields.next(.octetString, bytes)
            try fields.expectEnd()
            guard seen.count < Self.maxCount, !seen.contains(where: { bytes.same($0, identifier) }) else {
                throw DERFault(offset: start)
            }
            seen.append(identifier)
            let isKnown = try parse(identifier, value, bytes)
            guard isKnown || !isCritical else { throw DERFault(offset: start) }
        } while !reader.isAtEnd
    }

    /// - Returns: whether the extension is one that this verifier understands.
    private mutating func parse(
        _ identifier: Range<Int>,
        _ value: Range<Int>,
        _ bytes: Span<UInt8>
    ) throws(DERFault) -> Bool {
        if bytes.holds(ObjectIdentifier.basicConstraints, in: identifier) {
            // cA is FALSE by default, so a leaf's DER value is the empty SEQUENCE and nothing else.
            let content = try DERReader.only(.sequence, in: value, bytes)
            guard content.isEmpty else { throw DERFault(offset: value.lowerBound) }
            return true
        }
        if bytes.holds(ObjectIdentifier.keyUsage, in: identifier) {
            try Self.requireDigitalSignature(value, bytes)
            return true
        }
        guard let last = identifier.last, bytes.holds(ObjectIdentifier.appleAttestation, in: identifier.dropLast())
        else { return false }
        switch bytes[last] {
        case 2: nonce = value
        case 5: keyProperties = value
        case 6: accessControl = value
        case 7: osInformation = value
        default: return false
        }
        return true
    }

    /// KeyUsage is a BIT STRING whose first bit is digitalSignature.
    private static func requireDigitalSignature(_ value: Range<Int>, _ bytes: Span<UInt8>) throws(DERFault) {
        let fault = DERFault(offset: value.lowerBound)
        let content = try DERReader.only(.bitString, in: value, bytes)
        guard content.count == 2 || content.count == 3 else { throw fault }
        let (unused, last) = (bytes[content.lowerBound], bytes[content.upperBound - 1])
        // DER drops trailing zero bits, so the last bit in use is a one and the unused bits are zeros.
        guard unused < 8, last.trailingZeroBitCount == Int(unused) else { throw fault }
        guard bytes[content.lowerBound + 1] & 0x80 != 0 else { throw fault }
    }
}

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

    /// Judges a Mac's leaf. The extension must be present: a check that passes without it would check nothing.
    static func judge(
        _ extensions: LeafExtensions,
        _ bytes: Span<UInt8>,
        _ trace: some CheckTracer
    ) throws(Refusal) {
        func shown(_ value: ReportValue) -> Comparison {
            Comparison("access control", value, expected: .bytes(header + macPolicy))
        }
        guard let value = extensions.accessControl else {
            throw trace.failed("access control", .aclMissing) { shown(.absent) }
        }
        let split = value.lowerBound + min(header.count, value.count)
        let isTrusted =
            bytes.holds(header, in: value.lowerBound..<split)
            && bytes.holds(macPolicy, in: split..<value.upperBound)
        try trace.check("access control", isTrusted, else: Refusal.aclMismatch) { shown(.bytes(bytes.array(value))) }
    }
}
