extension CACertificate {
    /// One DER certificate, or all of a PEM text; empty for anything else.
    package static func readAny(_ bytes: [UInt8]) -> [CACertificate] {
        CACertificate(der: bytes).map { [$0] } ?? readPEM(bytes)
    }

    /// All certificates of a PEM text, in order; text around the blocks is ignored.
    ///
    /// - Returns: empty if a block is anything but one readable certificate, and if there is none.
    package static func readPEM(_ text: [UInt8]) -> [CACertificate] {
        var certificates: [CACertificate] = []
        for block in PEMBlock.all(of: text) ?? [] {
            guard block.name == "CERTIFICATE", let certificate = CACertificate(der: block.contents) else { return [] }
            certificates.append(certificate)
        }
        return certificates
    }
}
