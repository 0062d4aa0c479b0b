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
        func member(_ name: StaticString, _ value: String) {
            writer.key(name)
            writer.string(value)
        }
        func number(_ name: StaticString, _ bytes: [UInt8]) {
            writer.key(name)
            writer.string(validUTF8: Base64URL.encode(bytes))
        }
        writer.beginObject()
        member("kty", algorithm == .rs256 ? "RSA" : "EC")
        member("use", "sig")
        member("alg", algorithm.rawValue)
        member("kid", kid)
        switch key.publicKey.parameters {
        case .rsa(let modulus, let exponent):
            number("n", modulus)
            number("e", exponent)
        case .p256(let point):
            member("crv", "P-256")
            // RFC 7518, 6.2.1.2: always all 32 bytes.
            number("x", point.x.bytes)
            number("y", point.y.bytes)
        }
        writer.endObject()
    }
}
