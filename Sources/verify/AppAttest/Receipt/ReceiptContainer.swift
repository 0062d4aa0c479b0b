/// The CMS SignedData (RFC 5652 section 5) around a receipt, as Apple writes it: version 1, SHA-256, one signer named
/// by issuer and serial number, ECDSA, no unsigned attributes. Apple's BER and DER are both read.
struct ReceiptContainer: Sendable {
    /// The eContent with its chunks joined: the signed bytes.
    let content: [UInt8]
    /// The certificates in their order, as offsets into the receipt.
    let certificates: [Range<Int>]
    /// The signer's issuer Name and serial number, each with its header, one after the other.
    let signerID: Range<Int>
    /// The signed attributes' members, where there are any.
    let signedAttributes: Range<Int>?
    /// The bytes at the place of the ECDSA signature's DER.
    let signature: Range<Int>

    static let maxCertificates = 4

    /// - Parameter bytes: the receipt, nothing more.
    init(_ bytes: Span<UInt8>) throws(ReceiptRefusal) {
        var reader = BERReader(0..<bytes.count)
        let info = try reader.enter(Tag.sequence, bytes)
        try reader.expect(Spelling.signedData, bytes)
        let explicit = try reader.enter(Tag.context0, bytes)
        let signed = try reader.enter(Tag.sequence, bytes)
        try reader.expect(Spelling.version1, bytes)
        let algorithms = try reader.enter(Tag.set, bytes)
        try Self.readSHA256(&reader, bytes)
        try reader.leave(algorithms, bytes)
        content = try Self.readContent(&reader, bytes)
        certificates = try Self.readCertificates(&reader, bytes)
        let signers = try reader.enter(Tag.set, bytes)
        (signerID, signedAttributes, signature) = try Self.readSigner(&reader, bytes)
        try reader.leave(signers, bytes)
        try reader.leave(signed, bytes)
        try reader.leave(explicit, bytes)
        try reader.leave(info, bytes)
        try reader.expectEnd()
    }

    private static func readContent(
        _ reader: inout BERReader,
        _ bytes: Span<UInt8>
    ) throws(ReceiptRefusal) -> [UInt8] {
        let info = try reader.enter(Tag.sequence, bytes)
        try reader.expect(Spelling.data, bytes)
        let explicit = try reader.enter(Tag.context0, bytes)
        var content: [UInt8] = []
        if reader.isNext(Tag.octetString, bytes) {
            content = bytes.array(try reader.content(Tag.octetString, bytes))
        } else {
            let chunks = try reader.enter(Tag.constructedOctetString, bytes)
            while reader.isNext(Tag.octetString, bytes) {
                content += bytes.array(try reader.content(Tag.octetString, bytes))
            }
            try reader.leave(chunks, bytes)
        }
        try reader.leave(explicit, bytes)
        try reader.leave(info, bytes)
        return content
    }

    private static func readCertificates(
        _ reader: inout BERReader,
        _ bytes: Span<UInt8>
    ) throws(ReceiptRefusal) -> [Range<Int>] {
        let frame = try reader.enter(Tag.context0, bytes)
        var certificates: [Range<Int>] = []
        while reader.isNext(Tag.sequence, bytes) {
            guard certificates.count < maxCertificates else { throw .malformed }
            certificates.append(try reader.whole(Tag.sequence, bytes))
        }
        try reader.leave(frame, bytes)
        return certificates
    }

    private static func readSigner(
        _ reader: inout BERReader,
        _ bytes: Span<UInt8>
    ) throws(ReceiptRefusal) -> (id: Range<Int>, attributes: Range<Int>?, signature: Range<Int>) {
        let info = try reader.enter(Tag.sequence, bytes)
        try reader.expect(Spelling.version1, bytes)
        let id = try reader.content(Tag.sequence, bytes)
        try readSHA256(&reader, bytes)
        let attributes = reader.isNext(Tag.context0, bytes) ? try reader.content(Tag.context0, bytes) : nil
        try reader.expect(AlgorithmIdentifier.ecdsaWithSHA256, bytes)
        let signature = try reader.content(Tag.octetString, bytes)
        try reader.leave(info, bytes)
        return (id, attributes, signature)
    }

    /// The AlgorithmIdentifier of SHA-256 with parameters NULL, or absent as RFC 5754 prefers.
    private static func readSHA256(_ reader: inout BERReader, _ bytes: Span<UInt8>) throws(ReceiptRefusal) {
        let algorithm = try reader.whole(Tag.sequence, bytes)
        guard bytes.holds(Spelling.sha256WithNull, in: algorithm) || bytes.holds(Spelling.sha256, in: algorithm) else {
            throw .malformed
        }
    }
}

extension ReceiptContainer {
    private enum Tag {
        static let octetString: UInt8 = 0x04
        static let constructedOctetString: UInt8 = 0x24
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
        static let context0: UInt8 = 0xA0
    }

    /// Whole elements that have one spelling.
    private enum Spelling {
        static let version1: [UInt8] = [0x02, 0x01, 0x01]
        /// 1.2.840.113549.1.7.2.
        static let signedData: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
        /// 1.2.840.113549.1.7.1.
        static let data: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
        /// 2.16.840.1.101.3.4.2.1.
        static let sha256: [UInt8] = [
            0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01,
        ]
        static let sha256WithNull: [UInt8] = [
            0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
        ]
    }
}
