/// EMSA-PKCS1-v1_5 with SHA-256 (RFC 8017, section 9.2): what an RSA signature's private operation is applied to. Public.
enum EMSAPadding {
    /// DigestInfo up to the digest.
    private static let info: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
        0x20,
    ]

    /// - Parameter byteCount: of the modulus; 2048 bits or more leave room.
    static func padded(_ digest: Digest, byteCount: Int) -> [UInt8] {
        let filler = byteCount - 3 - info.count - Digest.byteCount
        precondition(filler >= 8, "a modulus has room for a digest")
        return [0x00, 0x01] + [UInt8](repeating: 0xFF, count: filler) + [0x00] + info + digest.bytes
    }
}
