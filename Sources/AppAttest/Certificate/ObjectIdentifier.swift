/// Object identifiers as their DER content octets.
enum ObjectIdentifier {
    static let basicConstraints: [UInt8] = [0x55, 0x1D, 0x13]
    static let commonName: [UInt8] = [0x55, 0x04, 0x03]
    static let keyUsage: [UInt8] = [0x55, 0x1D, 0x0F]
    /// 1.2.840.10045.4.3: ECDSA; the octet after it is 2, 3 or 4 for SHA-256, SHA-384 and SHA-512.
    static let ecdsaWithSHA2: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03]
    /// 1.2.840.113635.100.12.15, the marker of receipt signers.
    static let receiptSigning: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x0C, 0x0F]

    /// 1.2.840.113635.100.8, the arc of Apple's attestation extensions; the extension is the octet after it.
    static let appleAttestation: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x08]
}
