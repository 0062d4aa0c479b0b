internal import COpenSSL

/// Reads the parts of an `X509` into Swift values. Borrows the certificate and never outlives it.
@safe struct X509Reader {
    private let handle: OpaquePointer

    /// - Parameter handle: stays alive as long as the reader.
    init(_ handle: OpaquePointer) { unsafe self.handle = unsafe handle }

    /// A library context without algorithms, for the life of the process; nil = OpenSSL cannot make one.
    ///
    /// OpenSSL decodes the key while it reads a certificate, which takes 90 % of the time. Here it finds no decoder.
    nonisolated(unsafe) private static let withoutAlgorithms: OpaquePointer? = {
        guard let context = unsafe OSSL_LIB_CTX_new() else { return nil }
        guard unsafe OSSL_PROVIDER_load(context, "null") != nil else {
            unsafe OSSL_LIB_CTX_free(context)
            return nil
        }
        return unsafe context
    }()

    /// - Parameter isKeyDecoded: false = the certificate verifies nothing: no call may need its key or a digest.
    /// - Returns: a certificate that the caller frees; nil unless `der` is exactly one, spelled in DER.
    static func decode(_ der: [UInt8], isKeyDecoded: Bool = true) -> OpaquePointer? {
        defer { ERR_clear_error() }
        // OpenSSL reads into the empty one, or frees it and says so with nil.
        var empty: OpaquePointer?
        if !isKeyDecoded, let context = unsafe withoutAlgorithms { unsafe empty = X509_new_ex(context, nil) }
        // OpenSSL advances the cursor over what it read, never past the end.
        let decoded: OpaquePointer? = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let handle = unsafe d2i_X509(&empty, &cursor, buffer.count) else { return nil }
            guard unsafe cursor == buffer.baseAddress?.advanced(by: buffer.count) else {
                unsafe X509_free(handle)
                return nil
            }
            return unsafe handle
        }
        guard let decoded = unsafe decoded else { return nil }
        guard unsafe encode(decoded) == der else {
            unsafe X509_free(decoded)
            return nil
        }
        return unsafe decoded
    }

    /// OpenSSL accepts some BER too: only input that it writes back unchanged was DER.
    private static func encode(_ handle: OpaquePointer) -> [UInt8] {
        var buffer: UnsafeMutablePointer<UInt8>?
        // OpenSSL allocates the buffer and gives its length; it is copied, then freed.
        let count = unsafe i2d_X509(handle, &buffer)
        defer { unsafe CRYPTO_free(buffer, nil, 0) }
        return unsafe copy(buffer, count: Int(count))
    }

    /// nil where an extension is malformed or occurs twice.
    var facts: CertificateFacts? {
        // The calls only read the certificate (OpenSSL caches the extensions under its own lock). The flags go first: in a
        // context without digests the call that fills the cache fails, and the next ones answer.
        defer { ERR_clear_error() }
        let flags = unsafe X509_get_extension_flags(handle)
        guard flags & UInt32(EXFLAG_INVALID) == 0 else { return nil }
        let constraints = UInt32(EXFLAG_BCONS | EXFLAG_CA)
        let pathLength = unsafe X509_get_pathlen(handle)
        // All bits are set where the extension is absent.
        let usage = unsafe X509_get_key_usage(handle)
        return CertificateFacts(
            isCA: flags & constraints == constraints,
            pathLength: pathLength < 0 ? nil : pathLength,
            mayCertSign: usage & UInt32(KU_KEY_CERT_SIGN) != 0,
            maySign: usage & UInt32(KU_DIGITAL_SIGNATURE) != 0
        )
    }

    var subject: [UInt8] { unsafe name(X509_get_subject_name(handle)) }
    var issuer: [UInt8] { unsafe name(X509_get_issuer_name(handle)) }

    private func name(_ name: OpaquePointer?) -> [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        // The bytes belong to the certificate and are copied at once.
        guard let name = unsafe name, unsafe X509_NAME_get0_der(name, &bytes, &count) == 1 else { return [] }
        return unsafe Self.copy(bytes, count: count)
    }

    var serial: [UInt8] {
        // The number belongs to the certificate; OpenSSL allocates the encoding, which is copied and freed.
        guard let number = unsafe X509_get0_serialNumber(handle) else { return [] }
        var buffer: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_ASN1_INTEGER(number, &buffer)
        defer { unsafe CRYPTO_free(buffer, nil, 0) }
        return unsafe Self.copy(buffer, count: Int(count))
    }

    /// Milliseconds since 1970; nil where a date cannot be read.
    var validity: (Int64, Int64)? {
        // Both dates belong to the certificate.
        guard let first = unsafe Self.milliseconds(X509_get0_notBefore(handle)),
            let last = unsafe Self.milliseconds(X509_get0_notAfter(handle))
        else { return nil }
        return (first, last)
    }

    private static func milliseconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        // The epoch is ours and freed below; both times are only read.
        guard let time = unsafe time, let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
        defer { unsafe ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return nil }
        return (Int64(days) * 86_400 + Int64(seconds)) * 1_000
    }

    /// The subject's key, if it is an uncompressed point on a known curve.
    var key: IssuerKey? {
        var point: UnsafePointer<UInt8>?
        var count: Int32 = 0
        var algorithm: UnsafeMutablePointer<X509_ALGOR>?
        // All three outputs point into the certificate; the point is copied at once.
        guard let info = unsafe X509_get_X509_PUBKEY(handle),
            unsafe X509_PUBKEY_get0_param(nil, &point, &count, &algorithm, info) == 1
        else { return nil }
        let x963 = unsafe Self.copy(point, count: Int(count))
        switch unsafe Self.namedCurve(UnsafePointer(algorithm)) {
        case NID_X9_62_prime256v1: return P256PublicKey(x963: x963.span).map { .p256($0) }
        case NID_secp384r1: return P384PublicKey(x963: x963.span).map { .p384($0) }
        default: return nil
        }
    }

    /// The curve's NID of an id-ecPublicKey algorithm with a named curve, else NID_undef.
    private static func namedCurve(_ algorithm: UnsafePointer<X509_ALGOR>?) -> Int32 {
        var name: OpaquePointer?
        var kind: Int32 = 0
        var parameter: UnsafeRawPointer?
        // The outputs point into the algorithm, which lives in the certificate.
        unsafe X509_ALGOR_get0(&name, &kind, &parameter, algorithm)
        guard unsafe OBJ_obj2nid(name) == NID_X9_62_id_ecPublicKey, kind == V_ASN1_OBJECT else { return NID_undef }
        return unsafe OBJ_obj2nid(OpaquePointer(parameter))
    }

    private static func copy(_ bytes: UnsafePointer<UInt8>?, count: Int) -> [UInt8] {
        guard let bytes = unsafe bytes, count > 0 else { return [] }
        // OpenSSL says that `count` bytes are readable there.
        return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }
}

/// The facts that a certificate states about its own use.
package struct CertificateFacts: Sendable {
    /// basicConstraints is present and says cA.
    package let isCA: Bool
    /// How many intermediates may follow; nil = no limit.
    let pathLength: Int?
    /// keyUsage is absent or has keyCertSign.
    let mayCertSign: Bool
    /// keyUsage is absent or has digitalSignature.
    package let maySign: Bool
}

extension CertificateFacts {
    /// Reads a certificate that is refused anyway, to tell why: all that ``CACertificate`` reads, except the key.
    ///
    /// - Returns: nil where ``CACertificate`` reads none either.
    package init?(unusable der: [UInt8]) {
        // `X509Reader` gives a fresh certificate that is ours and freed below.
        guard let handle = unsafe X509Reader.decode(der, isKeyDecoded: false) else { return nil }
        defer { unsafe X509_free(handle) }
        let reader = unsafe X509Reader(handle)
        guard let facts = reader.facts, reader.validity != nil else { return nil }
        self = facts
    }
}
