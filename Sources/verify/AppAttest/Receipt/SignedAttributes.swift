internal import Crypto

/// The attributes of a SignerInfo (RFC 5652 section 5.3): a SET OF SEQUENCE { OID, SET OF value }, in DER.
enum SignedAttributes {
    /// 1.2.840.113549.1.9.3.
    private static let contentType: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03]
    /// 1.2.840.113549.1.7.1, the type of every receipt's content.
    private static let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]

    /// 1.2.840.113549.1.9.4.
    private static let messageDigest: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04]

    /// Whether they name the type of the content, once, and correctly: OpenSSL does not compare the two, and a
    /// signature over another kind of message must not pass for one over a receipt.
    ///
    /// - Parameter range: the members, without the set's header.
    static func nameContentType(_ range: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        guard let value = onlyValue(of: contentType, .objectIdentifier, range, bytes) else { return false }
        return bytes.holds(data, in: value)
    }

    /// Whether their message digest, of which there is one, is that of the content.
    static func nameDigest(_ digest: Digest, _ range: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        guard let value = onlyValue(of: messageDigest, .octetString, range, bytes) else { return false }
        return bytes.digest(value) == digest
    }

    /// The digest that the signature covers: of the members as a SET OF.
    static func signedDigest(_ range: Range<Int>, _ bytes: Span<UInt8>) -> Digest {
        var header: [UInt8] = [0x31]
        if range.count < 0x80 {
            header.append(UInt8(range.count))
        } else if range.count < 0x100 {
            header += [0x81, UInt8(range.count)]
        } else {
            header += [0x82, UInt8(truncatingIfNeeded: range.count >> 8), UInt8(truncatingIfNeeded: range.count)]
        }
        return SHA256.hash(header.span, bytes.extracting(range))
    }

    /// The value of the only attribute with this identifier; nil for attributes that are not DER.
    private static func onlyValue(
        of identifier: [UInt8],
        _ tag: DERTag,
        _ range: Range<Int>,
        _ bytes: Span<UInt8>
    ) -> Range<Int>? {
        var found: [Range<Int>] = []
        do throws(DERFault) {
            var members = DERReader(range)
            while !members.isAtEnd {
                var member = DERReader(try members.next(.sequence, bytes))
                let type = try member.next(.objectIdentifier, bytes)
                let values = try member.next(.set, bytes)
                try member.expectEnd()
                guard bytes.holds(identifier, in: type) else { continue }
                found.append(try DERReader.only(tag, in: values, bytes))
            }
        } catch { return nil }
        return found.count == 1 ? found[0] : nil
    }
}
