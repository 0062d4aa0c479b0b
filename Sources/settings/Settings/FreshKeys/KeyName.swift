internal import AppCheck
internal import Crypto
internal import JSON

/// Names of fresh keys: six characters, as Google's own `kid`s have.
enum KeyName {
    /// The bytes that six characters of base64url hold.
    private static let byteCount = 4

    /// The first four bytes of the key's thumbprint (RFC 7638) as base64url.
    static func kid(of key: SigningKey) -> String { text(Array(SHA256.hash(thumbprintInput(key)).bytes)) }

    /// A random name, for keys of whose bytes nothing may be revealed.
    static func random() -> String { text(SecureRandom.bytes(byteCount)) }

    /// Whether no command line mistakes the name for an option.
    static func isHandy(_ name: String) -> Bool { !name.hasPrefix("-") }

    /// The JWK's required members in the order of their names, without white space.
    private static func thumbprintInput(_ key: SigningKey) -> [UInt8] {
        func number(_ bytes: [UInt8]) -> String { String(decoding: Base64.encodeURL(bytes), as: UTF8.self) }
        let text =
            switch key.publicKey.parameters {
            case .rsa(let modulus, let exponent):
                #"{"e":"\#(number(exponent))","kty":"RSA","n":"\#(number(modulus))"}"#
            case .p256(let point):
                #"{"crv":"P-256","kty":"EC","x":"\#(number(point.x.bytes))","y":"\#(number(point.y.bytes))"}"#
            }
        return Array(text.utf8)
    }

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encodeURL(Array(bytes.prefix(byteCount))), as: UTF8.self)
    }
}
