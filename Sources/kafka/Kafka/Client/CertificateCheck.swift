internal import CRdkafka
internal import Glibc
internal import Synchronization

/// Notes why the broker's certificate failed OpenSSL's checks: librdkafka's own error does not say.
///
/// The library calls back on the threads of its connections.
final class CertificateCheck: Sendable {
    private let lastError = Atomic<Int32>(0)

    /// OpenSSL's number of the last failed check, X509_V_ERR_…; 0 = none failed.
    var error: Int32 { lastError.load(ordering: .relaxed) }

    /// Changes no outcome: a certificate that OpenSSL refuses stays refused.
    func register(in configuration: OpaquePointer) {
        // Known to every build with TLS; a build without it refuses security.protocol itself.
        _ = unsafe rd_kafka_conf_set_ssl_cert_verify_cb(configuration) { _, _, _, error, _, _, _, text, size, opaque in
            // The library's pointer to the result of OpenSSL's check, valid during the call.
            guard let code = unsafe error?.pointee else { return 0 }
            guard code != 0 else { return 1 }
            unsafe CallbackContext.from(opaque)?.certificates.lastError.store(code, ordering: .relaxed)
            // The library's buffer of `size` bytes.
            if let text = unsafe text, size > 0 { unsafe CertificateCheck.write(TLSWords.problem(code), text, size) }
            return 0
        }
    }

    private static func write(_ words: String, _ text: UnsafeMutablePointer<CChar>, _ size: Int) {
        let bytes = words.utf8.prefix(size - 1)
        for (index, byte) in bytes.enumerated() { unsafe text[index] = CChar(bitPattern: byte) }
        unsafe text[bytes.count] = 0
    }
}
