internal import Crypto

/// The presented values of a receipt and its signers.
extension Comparison {
    static func receipt(_ receipt: [UInt8], maxBytes: Int, isRead: Bool) -> Comparison {
        Comparison(
            "receipt",
            "\(Counted.text(receipt.count, "byte")) of \(isRead ? "that" : "another") form",
            expected: "up to \(maxBytes) bytes of CMS with Apple's fields"
        )
    }

    static func signer(_ container: ReceiptContainer, _ receipt: [UInt8]) -> Comparison {
        let readable = certificates(container, receipt).count
        let presented = "\(readable) readable of \(container.certificates.count) certificates"
        return Comparison("signer", presented, expected: "a signer and an intermediate with Apple's markers")
    }

    static func signerIssuers(
        _ container: ReceiptContainer,
        _ receipt: [UInt8],
        _ roots: [CACertificate]
    ) -> Comparison {
        let issuers = certificates(container, receipt).map { CommonName.shown($0.issuer) }
        let accepted = roots.map { "sha256 \(ReportValue.bytes($0.digest.bytes))" }
        let expected = ReportValue.list(accepted, none: "anchors.receipt lists no root")
        return Comparison("signer's issuers", .text(issuers.joined(separator: ", ")), expected: expected)
    }

    static func signerDates(
        _ container: ReceiptContainer,
        _ receipt: [UInt8],
        _ createdAt: EvaluationTime
    ) -> Comparison {
        let spans = certificates(container, receipt).map { Validity(of: $0).text }
        let expected = "with \(RFC3339.text(createdAt))"
        return Comparison("signers' dates", spans.joined(separator: ", "), expected: expected)
    }

    static func receiptSignature(_ container: ReceiptContainer, _ receipt: [UInt8], _ content: Digest) -> Comparison {
        let signature = ReportValue.bytes(receipt.span.array(container.signature))
        let expected = "the signer's, over the content \(ReportValue.bytes(content.bytes))"
        return Comparison("signature", signature, expected: .text(expected))
    }

    private static func certificates(_ container: ReceiptContainer, _ receipt: [UInt8]) -> [CACertificate] {
        container.certificates.compactMap { CACertificate(der: receipt.span.array($0)) }
    }
}
