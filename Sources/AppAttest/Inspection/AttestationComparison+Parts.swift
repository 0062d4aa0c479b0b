internal import Crypto

/// The object and its certificates.
extension AttestationComparison {
    var shape: Comparison {
        let expected = "1 to \(limits.attestationBytes) bytes of strict CBOR with fmt, attStmt and authData"
        if let hash = arguments.clientDataHash, !limits.allows(clientDataHash: hash) {
            return Comparison("object", "a client data hash of \(Counted.text(hash.count, "byte"))", expected: expected)
        }
        return Comparison(
            "object",
            "\(Counted.text(object.count, "byte")) of "
                + (parsed == nil ? "another form, \(ReportValue.beginning(object))" : "that form"),
            expected: expected
        )
    }

    func certificate(_ refusal: Refusal) -> Comparison? {
        guard let parsed else { return nil }
        switch refusal {
        case .badFormat:
            let format = object.span.text(parsed.format)
            return Comparison("format", format?.shown ?? "unreadable", expected: AttestationObject.appleFormat)
        case .badCertificate: return certificates(parsed)
        case .chain: return chain
        case .expiredOrNotYetValid(let role): return dates(role)
        default: return nil
        }
    }

    private func certificates(_ parsed: AttestationObject) -> Comparison {
        let expected = "2 certificates: a readable leaf and a readable intermediate"
        guard parsed.certificates.count == 2 else {
            return Comparison("certificates", "\(parsed.certificates.count)", expected: expected)
        }
        // The rules for a certificate that OpenSSL reads are stricter than being readable.
        let isIssuerUsable = issuer.map { (try? CertificateExtensions.judge($0.der)) != nil && $0.key != nil } ?? false
        let presented = [
            "a leaf that is \(leaf == nil ? "not " : "")usable",
            "an intermediate that is \(isIssuerUsable ? "" : "not ")usable",
        ]
        return Comparison("certificates", presented.joined(separator: ", "), expected: expected)
    }

    private var chain: Comparison? {
        guard let leaf, let issuer else { return nil }
        let leafIssuer = FieldList.commonName(of: object.span.array(leaf.issuer))
        let issuers = "the leaf by \(leafIssuer), its issuer by \(FieldList.commonName(of: issuer.issuer))"
        let accepted = roots.map { root in
            "\(FieldList.commonName(of: root.subject)) (sha256 \(ReportValue.bytes(root.digest.bytes)))"
        }
        return Comparison(
            "issuers",
            .text(issuers),
            expected: .text("signed by that intermediate, and it by \(ReportValue.list(accepted, none: "a root"))")
        )
    }

    private func dates(_ role: Refusal.CertificateRole) -> Comparison? {
        let validity: [Validity]
        switch role {
        case .leaf: validity = leaf.map { [$0.validity] } ?? []
        case .intermediate: validity = issuer.map { [Validity(of: $0)] } ?? []
        case .root:
            validity = roots.filter { root in issuer.map { root.subject == $0.issuer || root.der == $0.der } ?? false }
                .map { Validity(of: $0) }
        }
        let spans = validity.map { "\(RFC3339.text($0.notBefore)) to \(RFC3339.text($0.notAfter))" }
        guard !spans.isEmpty else { return nil }
        return Comparison("\(role.rawValue)'s dates", .list(spans), expected: .text("with \(RFC3339.text(time))"))
    }

    func nonce(_ refusal: Refusal) -> Comparison? {
        guard let parsed, let leaf else { return nil }
        let bytes = object.span
        guard let value = leaf.extensions.nonce else {
            return Comparison("nonce", .absent, expected: .text("extension 1.2.840.113635.100.8.2 of the leaf"))
        }
        guard refusal != .nonceMalformed else {
            let header = ReportValue.bytes(AttestationContent.nonceHeader)
            return Comparison("nonce", .bytes(bytes.array(value)), expected: .text("\(header) and 32 bytes"))
        }
        guard let hash = arguments.clientDataHash else { return nil }
        let computed = SHA256.hash(bytes.extracting(parsed.authenticatorData), hash.span)
        return Comparison(
            "nonce",
            .bytes(bytes.array(value.suffix(Digest.byteCount))),
            expected: .bytes(computed.bytes)
        )
    }

    /// nil for a device that is no Mac, or where the policy accepts any list.
    var accessControl: Comparison? {
        guard let leaf, expectations.macACL == .require, DeviceInformation(leaf.extensions, object.span).isMac
        else { return nil }
        let value = leaf.extensions.accessControl.map { ReportValue.bytes(object.span.array($0)) }
        return Comparison("access control", value ?? .absent, expected: .bytes(AccessControl.expected))
    }

    func key(_ refusal: Refusal) -> Comparison? {
        guard let leaf else { return nil }
        let expected = "an uncompressed point of P-256"
        guard let key = leaf.key else { return Comparison("leaf's key", "another key", expected: expected) }
        guard refusal == .keyIDMismatch else { return Comparison("leaf's key", expected, expected: expected) }
        guard let keyID = arguments.keyID else { return nil }
        return Comparison("key ID", .base64(keyID.bytes), expected: .base64(key.digest.bytes))
    }
}
