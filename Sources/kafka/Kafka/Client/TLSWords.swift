/// Explains TLS faults as an operator needs them: librdkafka repeats OpenSSL's words, which name neither the
/// certificate nor a remedy.
enum TLSWords {
    enum Kind {
        /// The certificate or the authorities that this client was given may be out of date.
        case ours
        /// The broker's certificate has to be renewed.
        case theirs
        /// Nothing was refused.
        case broken
    }

    /// A connection error in other words; nil where the library's say enough.
    ///
    /// - Parameters:
    ///   - reason: the library's text, `ssl://HOST:PORT/ID: …`.
    ///   - verifyError: OpenSSL's number of the last failed check of a broker's certificate, 0 = none.
    ///   - hasCertificate: whether this client has its own certificate.
    static func explained(
        _ reason: String,
        verifyError: Int32,
        hasCertificate: Bool
    ) -> (sentence: String, kind: Kind)? {
        let place = place(of: reason)
        if reason.contains("certificate verify failed"), verifyError != 0 {
            let kind: Kind = unknownIssuer.contains(verifyError) ? .ours : .theirs
            return ("\(place): the broker's certificate is refused: \(problem(verifyError))", kind)
        }
        if let alert = alert(in: reason), let words = refusal(alert, hasCertificate) {
            return ("\(place): \(words)", .ours)
        }
        if noTLS.contains(where: reason.contains) {
            return (
                "\(place): the TLS handshake broke off (\(cause(of: reason))); if that goes on, look at the port and at "
                    + "security.protocol: is this a TLS listener?", .broken
            )
        }
        return nil
    }

    /// Why OpenSSL refuses a certificate, and what helps. The numbers are those of openssl/x509_vfy.h.
    static func problem(_ verifyError: Int32) -> String {
        switch verifyError {
        case _ where unknownIssuer.contains(verifyError):
            "no authority in ssl.ca.location (by default the system's) has signed it; add the broker's authority there"
        case 9: "it is not valid yet; compare the clocks of broker and worker"
        case 10: "it has expired, or one of its chain; renew it on the broker"
        case 23: "it has been revoked; renew it on the broker"
        case 26: "it is not meant for servers (extendedKeyUsage); renew it on the broker"
        case 62, 64:
            "it is made out to other names than this host; use one of them in bootstrap.servers and the broker's "
                + "advertised.listeners, or renew it with this one as subjectAltName"
        default: "OpenSSL's verification ends with error \(verifyError), which `openssl verify` explains"
        }
    }

    private static let unknownIssuer: Set<Int32> = [2, 18, 19, 20, 21]

    /// The broker's answer to this client's certificate: alerts of RFC 8446, section 6.2.
    private static func refusal(_ alert: Int, _ hasCertificate: Bool) -> String? {
        guard let name = alerts[alert] else { return nil }
        guard hasCertificate else {
            return "the broker asks for a client certificate (alert \(alert), \(name)); set "
                + "ssl.certificate.location and ssl.key.location"
        }
        return "the broker refuses the client certificate (alert \(alert), \(name)); renew it if it has expired, "
            + "otherwise have its authority added to the broker's truststore"
    }

    private static let alerts = [
        42: "bad certificate", 43: "unsupported certificate", 44: "certificate revoked", 45: "certificate expired",
        46: "certificate unknown", 48: "unknown authority", 116: "certificate required",
    ]

    /// `SSL alert number 46`.
    private static func alert(in reason: String) -> Int? {
        guard let range = reason.firstRange(of: "SSL alert number ") else { return nil }
        return Int(reason[range.upperBound...].prefix { $0.isNumber })
    }

    private static let noTLS = [
        "unexpected eof while reading", "wrong version number", "packet length too long", "http request",
    ]

    private static func place(of reason: String) -> String {
        String(reason.firstRange(of: ": ").map { reason[..<$0.lowerBound] } ?? reason[...])
    }

    /// OpenSSL's last word: `error:0A000126:SSL routines::unexpected eof while reading (after 7ms …)`.
    private static func cause(of reason: String) -> String { noTLS.first(where: reason.contains) ?? "" }
}
