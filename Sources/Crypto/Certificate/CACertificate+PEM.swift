internal import COpenSSL

extension CACertificate {
    /// One DER certificate, or all of a PEM text; empty for anything else.
    package static func readAny(_ bytes: [UInt8]) -> [CACertificate] {
        CACertificate(der: bytes).map { [$0] } ?? readPEM(bytes)
    }

    /// All certificates of a PEM text, in order; text around the blocks is ignored.
    ///
    /// - Returns: empty if a block is anything but one readable certificate, and if there is none.
    package static func readPEM(_ text: [UInt8]) -> [CACertificate] {
        defer { ERR_clear_error() }
        ERR_clear_error()
        return unsafe text.withUnsafeBufferPointer { buffer in
            // The BIO reads the borrowed bytes, which outlive it.
            guard let input = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return []
            }
            defer { unsafe BIO_free(input) }
            var certificates: [CACertificate] = []
            while let block = unsafe readBlock(input) {
                guard block.name == "CERTIFICATE", let certificate = CACertificate(der: block.contents) else {
                    return []
                }
                certificates.append(certificate)
            }
            // The only correct end: no further block begins.
            return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE ? certificates : []
        }
    }

    private static func readBlock(_ input: OpaquePointer) -> (name: String, contents: [UInt8])? {
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        // OpenSSL allocates the three strings; they are copied, then freed.
        guard unsafe PEM_read_bio(input, &name, &header, &data, &count) == 1, let name = unsafe name else { return nil }
        defer {
            unsafe CRYPTO_free(name, nil, 0)
            unsafe CRYPTO_free(header, nil, 0)
            unsafe CRYPTO_free(data, nil, 0)
        }
        return unsafe (String(cString: name), [UInt8](UnsafeBufferPointer(start: data, count: count)))
    }
}
