internal import Crypto

/// What an assertion presents where that needs words.
extension Comparison {
    static func assertion(
        _ object: [UInt8],
        _ clientDataHash: [UInt8]?,
        _ limits: ObjectLimits,
        isRead: Bool
    ) -> Comparison {
        let expected = "1 to \(limits.assertionBytes) bytes of strict CBOR with signature and authenticatorData"
        let parsed = try? AssertionObject(object.span, limits: limits)
        guard !isRead, let parsed, clientDataHash.map({ limits.allows(clientDataHash: $0) }) ?? true else {
            return .object(object, clientDataHash, limits, isRead ? "that form" : nil, expected: expected)
        }
        let data = "authenticatorData of \(Counted.text(parsed.authenticatorData.count, "byte"))"
        return Comparison("object", data + " that cannot be read as a whole", expected: expected)
    }

    static func signature(_ parsed: AssertionObject, _ object: [UInt8], _ nonce: Digest, _ keyID: KeyID) -> Comparison {
        let bytes = object.span
        let isDER = P256Signature(strictDER: bytes.extracting(parsed.signature)) != nil
        let written = ReportValue.bytes(bytes.array(parsed.signature)).description
        return Comparison(
            "signature",
            isDER ? written : "no strict DER of two numbers in range: " + written,
            expected: "by the key \(keyID.base64), over the nonce \(ReportValue.bytes(nonce.bytes))"
        )
    }
}
