package import Crypto

/// Judges receipts (Apple: "Assessing fraud risk"), leaving the signature of each open as one check.
///
/// Used by one lane: it keeps the signers that it has verified. The cache never changes a verdict.
final class ReceiptVerifier {
    static let maxSkewMilliseconds: Int64 = 60_000
    /// Three thousand years; a greater age is taken as this one, so that sums stay far from overflow.
    private static let maxAgeSecondsLimit: Int64 = 100_000_000_000

    let roots: [CACertificate]
    private let maxBytes: Int
    private var signers: ReceiptSigners

    /// - Parameters:
    ///   - roots: of receipt signers; with none every receipt is refused for its chain.
    ///   - maxBytes: a longer receipt is malformed.
    init(roots: [CACertificate], maxBytes: Int = ObjectLimits.default.receiptBytes) {
        self.roots = roots
        self.maxBytes = maxBytes
        signers = ReceiptSigners(roots: roots)
    }

    /// Checks everything about a receipt except its signature. It always concludes with `success`: the verdict's
    /// `refusal` says whether the receipt is accepted, with the first reason in the order of ``ReceiptRefusal``.
    ///
    /// - Parameters:
    ///   - object: BER or DER, as received.
    ///   - time: decides "from the future", "too old" and "expired"; certificates are judged at the receipt's creation.
    func prepareReceipt(
        _ object: [UInt8],
        expectations: ReceiptExpectations,
        at time: EvaluationTime
    ) -> Prepared<ReceiptVerdict> {
        var verdict = ReceiptVerdict()
        do throws(ReceiptRefusal) {
            return try prepare(object, expectations, time, &verdict)
        } catch {
            verdict.refusal = error
            return Self.concluded(verdict)
        }
    }

    private func prepare(
        _ object: [UInt8],
        _ expectations: ReceiptExpectations,
        _ time: EvaluationTime,
        _ verdict: inout ReceiptVerdict
    ) throws(ReceiptRefusal) -> Prepared<ReceiptVerdict> {
        guard object.count <= maxBytes else { throw .malformed }
        let bytes = object.span
        let container = try ReceiptContainer(bytes)
        let payload = try ReceiptPayload(container.content)
        verdict = ReceiptVerdict(payload)
        let signer = try signers.trusted(container, bytes)
        guard signer.isValid(at: payload.createdAt) else { throw .expiredOrNotYetValid }
        let judged = Self.refusal(of: payload, expectations, at: time)
        guard let signature = P256Signature(strictDER: bytes.extracting(container.signature)) else { throw .signature }
        let contentDigest = SHA256.hash(container.content)
        guard let attributes = container.signedAttributes else {
            return Self.open(verdict, judged, Self.check(of: contentDigest, by: signer, signature)) { true }
        }
        // The signature covers the attributes, not the content. OpenSSL judges them, which is slow, so it gets only
        // what certainly has the signer's signature over the right content.
        guard SignedAttributes.nameContentType(attributes, bytes),
            SignedAttributes.nameDigest(contentDigest, attributes, bytes)
        else { throw .signature }
        let digest = SignedAttributes.signedDigest(attributes, bytes)
        return Self.open(verdict, judged, Self.check(of: digest, by: signer, signature)) { [roots] in
            CMS.verifiedContent(object, roots: roots) == container.content
        }
    }

    private static func check(
        of digest: Digest,
        by signer: ReceiptSigner,
        _ signature: P256Signature
    ) -> SignatureCheck {
        .p256(key: signer.key, digest: digest, signature: signature, second: signer.second)
    }

    /// - Parameter holds: asked once the signature is known to be valid.
    private static func open(
        _ verdict: ReceiptVerdict,
        _ judged: ReceiptRefusal?,
        _ check: SignatureCheck,
        _ holds: @escaping () -> Bool
    ) -> Prepared<ReceiptVerdict> {
        Prepared(check: check) { isValid in
            var verdict = verdict
            verdict.refusal = isValid && holds() ? judged : .signature
            return .success(verdict)
        }
    }

    private static func concluded(_ verdict: ReceiptVerdict) -> Prepared<ReceiptVerdict> {
        Prepared(concluded: .success(verdict))
    }

    /// The fault of the content itself, judged in the order of ``ReceiptRefusal``.
    private static func refusal(
        of payload: ReceiptPayload,
        _ expectations: ReceiptExpectations,
        at time: EvaluationTime
    ) -> ReceiptRefusal? {
        let bytes = payload.bytes.span
        guard let type = payload.type, expectations.type == nil || type == expectations.type else { return .type }
        let appIDHash = SHA256.hash(bytes.extracting(payload.appID))
        guard expectations.appIDs.contains(where: { $0.rpIDHash == appIDHash }) else { return .appID }
        guard let environment = payload.environment, expectations.environments.contains(environment) else {
            return .environment
        }
        guard hasExpectedKey(payload, expectations) else { return .keyMismatch }
        if type == .attest, let expected = expectations.clientDataHash {
            guard let hash = payload.clientHash, bytes.holds(expected, in: hash) else { return .clientHash }
        }
        return refusal(ofTimes: payload, maxAgeSeconds: expectations.maxAgeSeconds, at: time)
    }

    private static func hasExpectedKey(_ payload: ReceiptPayload, _ expectations: ReceiptExpectations) -> Bool {
        let bytes = payload.bytes.span
        if let leaf = expectations.leaf, !bytes.holds(leaf, in: payload.leaf) { return false }
        guard let key = expectations.publicKey else { return true }
        return (try? LeafCertificate(payload.leaf, bytes))?.key == key
    }

    private static func refusal(
        ofTimes payload: ReceiptPayload,
        maxAgeSeconds: Int64?,
        at time: EvaluationTime
    ) -> ReceiptRefusal? {
        // Receipt times have four-digit years, so sums with them stay far from overflow.
        let created = payload.createdAt.milliseconds
        guard created - maxSkewMilliseconds <= time.milliseconds else { return .fromFuture }
        if let maxAgeSeconds {
            let limit = maxAgeSecondsLimit
            let maxAge = min(max(maxAgeSeconds, -limit), limit)
            guard time.milliseconds <= created + maxAge * 1_000 else { return .tooOld }
        }
        return time <= payload.expiresAt ? nil : .expired
    }
}

extension ReceiptVerdict {
    fileprivate init(_ payload: ReceiptPayload) {
        self.init(
            type: payload.type,
            createdAt: payload.createdAt,
            notBefore: payload.notBefore,
            expiresAt: payload.expiresAt,
            riskMetric: payload.riskMetric
        )
    }
}

extension Prepared<ReceiptVerdict> {
    /// The receipt's own verdict, a refusal included.
    func receiptVerdict(isValid: Bool) -> ReceiptVerdict {
        switch advance(isValid: isValid) {
        case .concluded(.success(let verdict)): verdict
        case .concluded(.failure(.receipt(let refusal))): ReceiptVerdict(refusal: refusal)
        case .concluded(.failure), .open: preconditionFailure("a receipt is refused at once, for a receipt's reasons")
        }
    }

    /// The same, with its signature verified by `engine`.
    func receiptVerdict(by engine: any SignatureEngine) -> ReceiptVerdict {
        receiptVerdict(isValid: check.map { engine.verify([$0]) == [true] } ?? true)
    }
}

/// The values a receipt must agree with; nil fields are not compared.
package struct ReceiptExpectations: Sendable {
    package var appIDs: [AppID]
    package var environments: Set<Environment>
    package var type: ReceiptType?
    package var publicKey: P256PublicKey?
    /// Compared in ATTEST receipts only: Apple corrupts field 4 of RECEIPT ones.
    package var clientDataHash: [UInt8]?
    /// The leaf certificate, DER, compared with field 3 byte for byte.
    package var leaf: [UInt8]?
    /// The five-minute rule for a receipt that arrives with its attestation; nil = not applied.
    package var maxAgeSeconds: Int64?

    package init(appIDs: [AppID], environments: Set<Environment>) {
        self.appIDs = appIDs
        self.environments = environments
    }
}
