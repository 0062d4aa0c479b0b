internal import Crypto
package import JSON

extension TokenKeyRing {
    /// The published set (RFC 7517): `{"keys": […]}` with every key, active or published, public halves only.
    package var jsonWebKeySet: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("keys")
        writer.beginArray()
        for key in keys { key.writeJSONWebKey(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.takeBytes()
    }
}

extension TokenKey {
    /// Members as Google's set has them: `kty use alg kid n e`; ES256 keys have `crv x y` instead of the last two.
    package func writeJSONWebKey(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("kty", algorithm == .rs256 ? "RSA" : "EC")
        writer.member("use", "sig")
        writer.member("alg", algorithm.rawValue)
        writer.member("kid", kid)
        switch key.publicKey.parameters {
        case .rsa(let modulus, let exponent):
            writer.member("n", validUTF8: Base64.encodeURL(modulus))
            writer.member("e", validUTF8: Base64.encodeURL(exponent))
        case .p256(let point):
            writer.member("crv", "P-256")
            // RFC 7518, 6.2.1.2: always all 32 bytes.
            writer.member("x", validUTF8: Base64.encodeURL(point.x.bytes))
            writer.member("y", validUTF8: Base64.encodeURL(point.y.bytes))
        }
        writer.endObject()
    }
}
