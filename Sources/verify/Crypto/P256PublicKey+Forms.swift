internal import COpenSSL

extension P256PublicKey {
    /// A public key in any form in which verifiers keep it: the point, uncompressed or compressed (SEC 1), X ‖ Y, or a
    /// SubjectPublicKeyInfo (RFC 5480) as DER or PEM.
    ///
    /// - Returns: nil for anything else, and for points off the curve.
    package init?(anyForm bytes: [UInt8]) {
        switch bytes.count {
        case Self.byteCount: self.init(x963: bytes)
        case Self.byteCount - 1: self.init(x963: [0x04] + bytes)
        case 1 + Digest.byteCount:
            guard let point = Curve.p256.uncompressed(bytes) else { return nil }
            self.init(x963: point)
        default:
            defer { ERR_clear_error() }
            guard let der = Self.der(bytes), let key = unsafe Self.read(der) else { return nil }
            // Ours, and freed on the way out.
            defer { unsafe EVP_PKEY_free(key) }
            // The EC form belongs to the key.
            guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_EC, let ec = unsafe EVP_PKEY_get0_EC_KEY(key) else {
                return nil
            }
            unsafe self.init(ec: ec)
        }
    }

    /// The one block of a PEM text; other bytes as they are.
    private static func der(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.starts(with: "-----BEGIN".utf8) else { return bytes }
        guard let blocks = PEMBlock.all(of: bytes), blocks.count == 1, let block = blocks.first else { return nil }
        return block.name == "PUBLIC KEY" ? block.contents : nil
    }

    private static func read(_ bytes: [UInt8]) -> OpaquePointer? {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            // The cursor moves within the borrowed bytes.
            var cursor = buffer.baseAddress
            guard let key = unsafe d2i_PUBKEY(nil, &cursor, buffer.count) else { return nil }
            guard unsafe cursor == buffer.baseAddress.map({ unsafe $0 + buffer.count }) else {
                unsafe EVP_PKEY_free(key)
                return nil
            }
            return unsafe key
        }
    }

    /// - Parameter ec: OpenSSL's key, which is only read.
    /// - Returns: nil for a key of another curve.
    @unsafe init?(ec: OpaquePointer?) {
        // Group and point belong to the key.
        guard let group = unsafe EC_KEY_get0_group(ec), unsafe EC_GROUP_get_curve_name(group) == NID_X9_62_prime256v1,
            let point = unsafe Curve.p256.uncompressed(EC_KEY_get0_public_key(ec), in: group)
        else { return nil }
        self.init(x963: point)
    }
}

extension Curve {
    /// A compressed point written out; nil for bytes that name none.
    fileprivate func uncompressed(_ compressed: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard compressed.first == 0x02 || compressed.first == 0x03 else { return nil }
        return unsafe withPoint { group, point in
            guard unsafe EC_POINT_oct2point(group, point, compressed, compressed.count, nil) == 1 else { return nil }
            return unsafe uncompressed(point, in: group)
        }
    }

    /// A point's X9.63 form; nil for the point at infinity, which has none.
    @unsafe fileprivate func uncompressed(_ point: OpaquePointer?, in group: OpaquePointer) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: pointBytes)
        // OpenSSL writes as many bytes as there are, at most.
        let form = POINT_CONVERSION_UNCOMPRESSED
        let count = unsafe EC_POINT_point2oct(group, point, form, &bytes, bytes.count, nil)
        return count == bytes.count ? bytes : nil
    }
}
