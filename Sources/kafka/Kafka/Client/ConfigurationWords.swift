internal import Glibc

/// Why no client can be made of settings, in words that name the file or setting to look at. No value of a secret is
/// part of them.
enum ConfigurationWords {
    /// - Parameter complaint: the library's, such as `ssl.key.location failed: error:0A080009:SSL routines::PEM lib`.
    static func explained(_ complaint: String, _ properties: KafkaProperties) -> String {
        if complaint.contains("sasl.kerberos."), properties["sasl.mechanisms"] ?? properties["sasl.mechanism"] == nil {
            return "sasl.mechanisms is missing, which would mean Kerberos; set it to PLAIN, SCRAM-SHA-256, "
                + "SCRAM-SHA-512 or OAUTHBEARER"
        }
        guard let name = ClientFiles.names.first(where: { complaint.contains($0) }), let path = properties[name] else {
            return complaint
        }
        // The texts are copied; nothing is read.
        guard unsafe access(path, R_OK) == 0 else {
            let why = unsafe String(cString: strerror(errno))
            return "\(name): \(path) cannot be read: \(why)"
        }
        return content(name, path, complaint, properties).map { "\(name): \($0)" } ?? complaint
    }

    private static func content(
        _ name: String,
        _ path: String,
        _ complaint: String,
        _ properties: KafkaProperties
    ) -> String? {
        switch name {
        case "ssl.ca.location", "ssl.certificate.location":
            return "\(path) holds no certificate as PEM (\(complaint))"
        case "ssl.key.location" where complaint.contains("key values mismatch"):
            let certificate = properties["ssl.certificate.location"] ?? "the certificate"
            return "\(path) is not the key of \(certificate); renew both together"
        case "ssl.key.location" where properties["ssl.key.password"] == nil:
            return "\(path) is not a private key as PEM, or it has a password: then set ssl.key.password"
        case "ssl.key.location": return "ssl.key.password does not open \(path), or it is not a private key as PEM"
        default: return nil
        }
    }
}
