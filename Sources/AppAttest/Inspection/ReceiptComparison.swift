internal import Crypto

/// What a receipt presents at each of its checks.
struct ReceiptComparison {
    let receipt: [UInt8]?
    let expectations: ReceiptExpectations
    let time: EvaluationTime
    let roots: [CACertificate]
    let maxBytes: Int

    func of(_ refusal: ReceiptRefusal) -> Comparison? {
        guard let receipt else {
            return refusal == .missing ? Comparison("receipt", .absent, expected: .text("a receipt")) : nil
        }
        let payload = FieldList.payload(of: receipt)
        switch refusal {
        case .missing: return Comparison("receipt", "\(Counted.text(receipt.count, "byte"))", expected: "a receipt")
        case .malformed:
            let form = payload == nil ? "another" : "that"
            let expected = "up to \(maxBytes) bytes of CMS with Apple's fields"
            return Comparison("receipt", "\(Counted.text(receipt.count, "byte")) of \(form) form", expected: expected)
        case .badCertificate, .chain, .expiredOrNotYetValid, .signature: return signer(refusal, receipt, payload)
        case .type, .appID, .environment, .keyMismatch, .clientHash: return payload.flatMap { content(refusal, $0) }
        case .fromFuture, .tooOld, .expired: return payload.flatMap { times(refusal, $0) }
        }
    }

    private func signer(_ refusal: ReceiptRefusal, _ receipt: [UInt8], _ payload: ReceiptPayload?) -> Comparison? {
        guard let container = try? ReceiptContainer(receipt.span) else { return nil }
        let certificates = container.certificates.compactMap { CACertificate(der: receipt.span.array($0)) }
        switch refusal {
        case .badCertificate:
            let presented = "\(certificates.count) readable of \(container.certificates.count) certificates"
            return Comparison("signer", presented, expected: "a signer and an intermediate with Apple's markers")
        case .chain:
            let issuers = certificates.map { FieldList.commonName(of: $0.issuer) }
            let accepted = roots.map { "sha256 \(ReportValue.bytes($0.digest.bytes))" }
            let expected = ReportValue.list(accepted, none: "anchors.receipt lists no root")
            return Comparison("signer's issuers", .text(issuers.joined(separator: ", ")), expected: expected)
        case .expiredOrNotYetValid:
            let spans = certificates.map { certificate in
                let validity = Validity(of: certificate)
                return "\(RFC3339.text(validity.notBefore)) to \(RFC3339.text(validity.notAfter))"
            }
            let created = payload.map { RFC3339.text($0.createdAt) } ?? "the receipt's creation"
            return Comparison(
                "signers' dates",
                .text(spans.joined(separator: ", ")),
                expected: .text("with \(created)")
            )
        default:
            let signature = ReportValue.bytes(receipt.span.array(container.signature))
            let content = ReportValue.bytes(SHA256.hash(container.content).bytes)
            return Comparison("signature", signature, expected: .text("the signer's, over the content \(content)"))
        }
    }

    private func content(_ refusal: ReceiptRefusal, _ payload: ReceiptPayload) -> Comparison? {
        let bytes = payload.bytes.span
        switch refusal {
        case .type:
            let expected = expectations.type?.rawValue
            return Comparison("type", payload.type?.rawValue ?? "unknown", expected: expected ?? "ATTEST or RECEIPT")
        case .appID:
            let names = expectations.appIDs.map {
                $0.text.isEmpty ? "\(ReportValue.bytes($0.rpIDHash.bytes))" : $0.text
            }
            return Comparison("App ID", .text(bytes.text(payload.appID)?.shown ?? "unreadable"), expected: .list(names))
        case .environment:
            let names = Environment.allCases.filter { expectations.environments.contains($0) }.map(\.rawValue)
            return Comparison("environment", .text(payload.environment?.rawValue ?? "unknown"), expected: .list(names))
        case .keyMismatch:
            let hash = SHA256.hash(bytes.extracting(payload.leaf)).bytes
            let expected = expectations.leaf.map { ReportValue.bytes(SHA256.hash($0).bytes) }
            guard let expected else { return nil }
            return Comparison("leaf's sha256", .bytes(hash), expected: expected)
        default:
            let hash = payload.clientHash.map { ReportValue.bytes(bytes.array($0)) }
            return expectations.clientDataHash.map {
                Comparison("client data hash", hash ?? .absent, expected: .bytes($0))
            }
        }
    }

    private func times(_ refusal: ReceiptRefusal, _ payload: ReceiptPayload) -> Comparison? {
        let now = RFC3339.text(time)
        switch refusal {
        case .fromFuture:
            let skew = ReceiptVerifier.maxSkewMilliseconds / 1000
            return Comparison("createdAt", .time(payload.createdAt), expected: .text("at most \(skew) s after \(now)"))
        case .tooOld:
            return expectations.maxAgeSeconds.map {
                Comparison("createdAt", .time(payload.createdAt), expected: .text("at most \($0) s before \(now)"))
            }
        default: return Comparison("expiresAt", .time(payload.expiresAt), expected: .text("\(now) or later"))
        }
    }
}

extension AttestationComparison {
    func receipt(_ refusal: ReceiptRefusal) -> Comparison? {
        guard parsed != nil else { return nil }
        let own = receipt(expectations)
        return ReceiptComparison(
            receipt: own?.bytes,
            expectations: own?.expected ?? ReceiptExpectations(appIDs: [], environments: []),
            time: time,
            roots: receiptRoots,
            maxBytes: limits.receiptBytes
        ).of(refusal)
    }

    /// The receipt inside, and what it is compared with: the attestation around it.
    func receipt(_ expectations: Expectations) -> (bytes: [UInt8], expected: ReceiptExpectations)? {
        guard let parsed, let range = parsed.receipt else { return nil }
        let bytes = object.span
        let data = AuthenticatorData(parsed.authenticatorData, bytes)
        let credential = AttestedCredential(parsed.authenticatorData, bytes)
        var expected = ReceiptExpectations(
            appIDs: expectations.appIDs.filter { $0.rpIDHash == data?.rpIDHash },
            environments: credential?.environment.map { [$0] } ?? expectations.environments
        )
        expected.type = .attest
        expected.publicKey = leaf?.key
        expected.leaf = parsed.certificates.first.map { bytes.array($0) }
        expected.clientDataHash = arguments.clientDataHash
        expected.maxAgeSeconds = ObjectVerifier.maxReceiptAgeSeconds
        return (bytes.array(range), expected)
    }
}
