internal import COpenSSL

/// A block of a PEM text (RFC 7468).
struct PEMBlock {
    let name: String
    let contents: [UInt8]

    /// All blocks in order; text around them is ignored.
    ///
    /// - Returns: nil where one cannot be read.
    static func all(of text: [UInt8]) -> [PEMBlock]? {
        defer { ERR_clear_error() }
        ERR_clear_error()
        return unsafe text.withUnsafeBufferPointer { buffer in
            // The BIO reads the borrowed bytes, which outlive it.
            guard let input = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free(input) }
            var blocks: [PEMBlock] = []
            while let block = unsafe next(input) { blocks.append(block) }
            // The only correct end: no further block begins.
            return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE ? blocks : nil
        }
    }

    private static func next(_ input: OpaquePointer) -> PEMBlock? {
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
        let contents = unsafe [UInt8](UnsafeBufferPointer(start: data, count: count))
        return unsafe PEMBlock(name: String(cString: name), contents: contents)
    }
}
