/// The attributes of a SignerInfo (RFC 5652 section 5.3): a SET OF SEQUENCE { OID, SET OF value }, in DER.
enum SignedAttributes {
    /// 1.2.840.113549.1.9.3.
    private static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
    /// 1.2.840.113549.1.7.1, the type of every receipt's content.
    private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]

    /// Whether they name the type of the content, once, and correctly: OpenSSL does not compare the two, and a
    /// signature over another kind of message must not pass for one over a receipt.
    ///
    /// - Parameter range: the members, without the set's header.
    static func nameContentType(_ range: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        var types: [Range<Int>] = []
        do throws(DERFault) {
            var members = DERReader(range)
            while !members.isAtEnd {
                var member = DERReader(try members.next(.sequence, bytes))
                let identifier = try member.next(.objectIdentifier, bytes)
                let values = try member.next(.set, bytes)
                try member.expectEnd()
                guard bytes.holds(contentType, in: identifier) else { continue }
                types.append(try DERReader.only(.objectIdentifier, in: values, bytes))
            }
        } catch { return false }
        return types.count == 1 && bytes.holds(data, in: types[0])
    }
}
