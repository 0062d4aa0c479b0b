/// Object identifiers as their DER content octets.
enum ObjectIdentifier {
    static let basicConstraints: [UInt8] = [0x55, 0x1D, 0x13]
    static let commonName: [UInt8] = [0x55, 0x04, 0x03]
    static let keyUsage: [UInt8] = [0x55, 0x1D, 0x0F]

    /// 1.2.840.113635.100.8, the arc of Apple's attestation extensions; the extension is the octet after it.
    static let appleAttestation: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x08]
}

/// Algorithm identifiers as whole DER SEQUENCEs: one spelling each, compared byte for byte.
enum AlgorithmIdentifier {
    /// ecdsa-with-SHA256 (RFC 5758 section 3.2), parameters absent.
    static let ecdsaWithSHA256: [UInt8] = [
        0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02,
    ]
    /// id-ecPublicKey with prime256v1 (RFC 5480 section 2.1.1).
    static let p256: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
}
