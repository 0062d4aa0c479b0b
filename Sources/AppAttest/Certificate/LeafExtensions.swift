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
