internal import Crypto

/// An attestation's own certificate, read by a strict walk over its DER.
///
/// A general X.509 parser costs more than all other parsing of an attestation together; Apple's leaves have one shape:
/// version 3, ecdsa-with-SHA256 in both places, no unique identifiers. Any other shape is refused, including a leaf
/// signed with another hash.
struct LeafCertificate: Sendable {
    /// The signed part, header included.
    let signedPart: Range<Int>
    let serial: Range<Int>
    /// The issuer's Name, header included.
    let issuer: Range<Int>
    /// The subject's Name, header included.
    let subject: Range<Int>
    /// The DER of the ECDSA signature.
    let signature: Range<Int>
    let validity: Validity
    /// nil for a key that is not an uncompressed point on P-256.
    let key: P256PublicKey?
    let extensions: LeafExtensions

    /// - Parameter range: the certificate within `bytes`; ranges in the result are offsets into `bytes`.
    init(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(DERFault) {
        var certificate = DERReader(try DERReader.only(.sequence, in: range, bytes))
        let signed = try certificate.element(.sequence, bytes)
        signedPart = signed.whole
        try Self.requireECDSAWithSHA256(&certificate, bytes)
        signature = try certificate.octetsOfBitString(bytes)
        try certificate.expectEnd()

        var fields = DERReader(signed.content)
        try Self.requireVersion3(&fields, bytes)
        serial = try fields.integer(bytes)
        try Self.requireECDSAWithSHA256(&fields, bytes)
        // Names are compared as bytes only, so their insides are not read here.
        issuer = try fields.element(.sequence, bytes).whole
        validity = try Self.validity(&fields, bytes)
        subject = try fields.element(.sequence, bytes).whole
        key = try Self.publicKey(&fields, bytes)
        extensions = fields.isAtEnd ? LeafExtensions() : try LeafExtensions(fields.next(.explicit(3), bytes), bytes)
        try fields.expectEnd()
    }

    private static func requireVersion3(_ fields: inout DERReader, _ bytes: Span<UInt8>) throws(DERFault) {
        let content = try fields.next(.explicit(0), bytes)
        guard bytes.holds([0x02, 0x01, 0x02], in: content) else { throw DERFault(offset: content.lowerBound) }
    }

    private static func requireECDSAWithSHA256(_ fields: inout DERReader, _ bytes: Span<UInt8>) throws(DERFault) {
        let algorithm = try fields.next(bytes).whole
        guard bytes.holds(AlgorithmIdentifier.ecdsaWithSHA256, in: algorithm) else {
            throw DERFault(offset: algorithm.lowerBound)
        }
    }

    private static func validity(_ fields: inout DERReader, _ bytes: Span<UInt8>) throws(DERFault) -> Validity {
        var times = DERReader(try fields.next(.sequence, bytes))
        let notBefore = try DERTime.next(&times, bytes)
        let notAfter = try DERTime.next(&times, bytes)
        try times.expectEnd()
        return Validity(notBefore: notBefore, notAfter: notAfter)
    }

    private static func publicKey(_ fields: inout DERReader, _ bytes: Span<UInt8>) throws(DERFault) -> P256PublicKey? {
        var info = DERReader(try fields.next(.sequence, bytes))
        let algorithm = try info.element(.sequence, bytes).whole
        let point = try info.octetsOfBitString(bytes)
        try info.expectEnd()
        guard bytes.holds(AlgorithmIdentifier.p256, in: algorithm) else { return nil }
        return P256PublicKey(x963: bytes.extracting(point))
    }
}

extension IssueTime {
    init(of leaf: LeafCertificate, _ bytes: Span<UInt8>) {
        self.init(notBefore: leaf.validity.notBefore, serial: Self.number(leaf.serial, bytes))
    }

    /// A DER INTEGER's content as a number; a negative one is 0.
    private static func number(_ content: Range<Int>, _ bytes: Span<UInt8>) -> Int64 {
        guard bytes[content.lowerBound] < 0x80 else { return 0 }
        guard content.count <= 8 else { return .max }
        return content.reduce(0) { $0 << 8 | Int64(bytes[$1]) }
    }
}
