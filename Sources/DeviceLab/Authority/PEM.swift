internal import JSON

/// PEM (RFC 7468): base64 in lines of 64 characters between two labels.
enum PEM {
    static func certificate(_ der: [UInt8]) -> [UInt8] {
        var text = Array("-----BEGIN CERTIFICATE-----\n".utf8)
        let base64 = Base64.encode(der)
        for start in stride(from: 0, to: base64.count, by: 64) {
            text += base64[start..<min(start + 64, base64.count)] + [0x0A]
        }
        return text + Array("-----END CERTIFICATE-----\n".utf8)
    }
}
