internal import COpenSSL

/// Cryptographic Message Syntax (RFC 5652) as OpenSSL judges it: slow and general, for what nothing else judges.
package enum CMS {
    /// Verifies a SignedData with embedded content: digests, signed attributes, every signature, and the signers'
    /// chains to `roots` by the certificates it carries. Dates are not judged.
    ///
    /// - Parameter object: BER or DER; bytes after it are refused.
    /// - Returns: the content; nil unless every check passes.
    package static func verifiedContent(_ object: [UInt8], roots: [CACertificate]) -> [UInt8]? {
        defer { ERR_clear_error() }
        // Each handle is ours, is freed on the way out, and OpenSSL frees a nil one without complaint.
        let message = unsafe decode(object)
        defer { unsafe CMS_ContentInfo_free(message) }
        let store = unsafe makeStore(roots)
        defer { unsafe X509_STORE_free(store) }
        let output = unsafe BIO_new(BIO_s_mem())
        defer { unsafe BIO_free(output) }
        guard unsafe message != nil, unsafe store != nil, unsafe output != nil,
            unsafe CMS_verify(message, nil, store, nil, output, UInt32(CMS_BINARY)) == 1
        else { return nil }
        return unsafe contents(of: output)
    }

    private static func decode(_ object: [UInt8]) -> OpaquePointer? {
        // OpenSSL advances the cursor over what it read, never past the end.
        unsafe object.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let message = unsafe d2i_CMS_ContentInfo(nil, &cursor, buffer.count) else { return nil }
            guard unsafe cursor == buffer.baseAddress?.advanced(by: buffer.count) else {
                unsafe CMS_ContentInfo_free(message)
                return nil
            }
            return unsafe message
        }
    }

    private static func makeStore(_ roots: [CACertificate]) -> OpaquePointer? {
        guard let store = unsafe X509_STORE_new() else { return nil }
        // Every configured certificate is an anchor, self-signed or not; the caller judges dates.
        let flags = UInt(X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_PARTIAL_CHAIN)
        unsafe X509_STORE_set_flags(store, flags)
        for root in roots {
            // The store takes its own reference.
            unsafe root.withHandle { _ = unsafe X509_STORE_add_cert(store, $0) }
        }
        return unsafe store
    }

    private static func contents(of output: OpaquePointer?) -> [UInt8] {
        var start: UnsafeMutableRawPointer?
        // The bytes belong to the BIO and are copied at once.
        let count = unsafe BIO_ctrl(output, BIO_CTRL_INFO, 0, &start)
        guard count > 0, let start = unsafe start else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
