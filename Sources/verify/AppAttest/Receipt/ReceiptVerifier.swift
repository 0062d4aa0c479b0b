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
        (self.roots, self.maxBytes) = (roots, maxBytes)
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
        at time: EvaluationTime,
        _ trace: some CheckTracer
    ) -> Prepared<ReceiptVerdict> {
        var verdict = ReceiptVerdict()
        do throws(ReceiptRefusal) {
            return try prepare(object, expectations, time, trace, &verdict)
        } catch {
            verdict.refusal = error
            return Prepared(concluded: .success(verdict))
        }
    }

    private func prepare(
        _ object: [UInt8],
        _ expectations: ReceiptExpectations,
        _ time: EvaluationTime,
        _ trace: some CheckTracer,
        _ verdict: inout ReceiptVerdict
    ) throws(ReceiptRefusal) -> Prepared<ReceiptVerdict> {
        let bytes = object.span
        guard object.count <= maxBytes, let container = try? ReceiptContainer(bytes),
            let payload = try? ReceiptPayload(container.content)
        else { throw trace.failed(.malformed) { .receipt(object, maxBytes: maxBytes, isRead: false) } }
        trace.passed(.malformed) { .receipt(object, maxBytes: maxBytes, isRead: true) }
        verdict = ReceiptVerdict(payload)
        let signer = try trusted(container, object, trace)
        try trace.check(.expiredOrNotYetValid, signer.isValid(at: payload.createdAt)) {
            .signerDates(container, object, payload.createdAt)
        }
        let judged = Result { () throws(ReceiptRefusal) in try Self.judge(payload, expectations, at: time, trace) }
        let contentDigest = SHA256.hash(container.content)
        guard let signature = P256Signature(strictDER: bytes.extracting(container.signature)) else {
            throw trace.failed(.signature) { .receiptSignature(container, object, contentDigest) }
        }
        func check(_ digest: Digest) -> SignatureCheck {
            .p256(key: signer.key, digest: digest, signature: signature)
        }
        guard let attributes = container.signedAttributes else {
            return open(verdict, judged, check(contentDigest), container, object, trace) { true }
        }
        // The signature covers the attributes, not the content. OpenSSL judges them, which is slow, so it gets only
        // what certainly has the signer's signature over the right content.
        guard SignedAttributes.nameContentType(attributes, bytes),
            SignedAttributes.nameDigest(contentDigest, attributes, bytes)
        else { throw trace.failed(.signature) { .receiptSignature(container, object, contentDigest) } }
        let digest = SignedAttributes.signedDigest(attributes, bytes)
        return open(verdict, judged, check(digest), container, object, trace) { [roots] in
            CMS.verifiedContent(object, roots: roots) == container.content
        }
    }

    private func trusted(
        _ container: ReceiptContainer,
        _ object: [UInt8],
        _ trace: some CheckTracer
    ) throws(ReceiptRefusal) -> ReceiptSigner {
        do throws(ReceiptRefusal) {
            let signer = try signers.trusted(container, object.span)
            trace.passed(.badCertificate) { .signer(container, object) }
            trace.passed(.chain) { .signerIssuers(container, object, roots) }
            return signer
        } catch {
            if error == .chain { trace.passed(.badCertificate) { .signer(container, object) } }
            throw trace.failed(error) {
                error == .chain ? .signerIssuers(container, object, roots) : .signer(container, object)
            }
        }
    }

    /// - Parameter holds: asked once the signature is known to be valid.
    private func open(
        _ verdict: ReceiptVerdict,
        _ judged: Result<Void, ReceiptRefusal>,
        _ check: SignatureCheck,
        _ container: ReceiptContainer,
        _ object: [UInt8],
        _ trace: some CheckTracer,
        _ holds: @escaping () -> Bool
    ) -> Prepared<ReceiptVerdict> {
        Prepared(check: check) { isValid in
            var verdict = verdict
            do throws(ReceiptRefusal) {
                try trace.check(.signature, isValid && holds()) {
                    .receiptSignature(container, object, SHA256.hash(container.content))
                }
                try judged.get()
            } catch { verdict.refusal = error }
            return .success(verdict)
        }
    }

    /// Judges the content itself, in the order of ``ReceiptRefusal``.
    private static func judge(
        _ payload: ReceiptPayload,
        _ expectations: ReceiptExpectations,
        at time: EvaluationTime,
        _ trace: some CheckTracer
    ) throws(ReceiptRefusal) {
        let bytes = payload.bytes.span
        let isOfType = payload.type.map { expectations.type == nil || $0 == expectations.type } ?? false
        try trace.check(.type, isOfType) {
            let expected = expectations.type?.rawValue ?? "ATTEST or RECEIPT"
            return Comparison("type", payload.type?.rawValue ?? "unknown", expected: expected)
        }
        let appIDHash = SHA256.hash(bytes.extracting(payload.appID))
        try trace.check(.appID, expectations.appIDs.contains { $0.rpIDHash == appIDHash }) {
            let names = expectations.appIDs.map {
                $0.text.isEmpty ? "\(ReportValue.bytes($0.rpIDHash.bytes))" : $0.text
            }
            let presented = ReportValue.text(payload.bytes.span.text(payload.appID), else: "unreadable")
            return Comparison("App ID", presented, expected: .list(names))
        }
        try trace.check(.environment, payload.environment.map { expectations.environments.contains($0) } ?? false) {
            let names = Environment.allCases.filter { expectations.environments.contains($0) }.map(\.rawValue)
            return Comparison("environment", .text(payload.environment?.rawValue ?? "unknown"), expected: .list(names))
        }
        try trace.check(.keyMismatch, hasExpectedKey(payload, expectations)) {
            let hash = SHA256.hash(payload.bytes.span.extracting(payload.leaf)).bytes
            let expected = expectations.leaf.map { ReportValue.bytes(SHA256.hash($0).bytes) }
            return expected.map { Comparison("leaf's sha256", .bytes(hash), expected: $0) }
        }
        if payload.type == .attest, let expected = expectations.clientDataHash {
            let isSame = payload.clientHash.map { bytes.holds(expected, in: $0) } ?? false
            try trace.check(.clientHash, isSame) {
                let presented = payload.clientHash.map { ReportValue.bytes(payload.bytes.span.array($0)) }
                return Comparison("client data hash", presented ?? .absent, expected: .bytes(expected))
            }
        }
        try judgeTimes(of: payload, maxAgeSeconds: expectations.maxAgeSeconds, at: time, trace)
    }

    private static func hasExpectedKey(_ payload: ReceiptPayload, _ expectations: ReceiptExpectations) -> Bool {
        let bytes = payload.bytes.span
        if let leaf = expectations.leaf, !bytes.holds(leaf, in: payload.leaf) { return false }
        guard expectations.publicKey != nil || expectations.keyID != nil else { return true }
        guard let key = (try? LeafCertificate(payload.leaf, bytes))?.key else { return false }
        return key == expectations.publicKey ?? key && KeyID(of: key) == expectations.keyID ?? KeyID(of: key)
    }

    private static func judgeTimes(
        of payload: ReceiptPayload,
        maxAgeSeconds: Int64?,
        at time: EvaluationTime,
        _ trace: some CheckTracer
    ) throws(ReceiptRefusal) {
        // Receipt times have four-digit years, so sums with them stay far from overflow.
        let creation = payload.createdAt.milliseconds
        func created(_ expected: String) -> Comparison {
            Comparison("createdAt", .time(payload.createdAt), expected: .text("\(expected) \(RFC3339.text(time))"))
        }
        try trace.check(.fromFuture, creation - maxSkewMilliseconds <= time.milliseconds) {
            created("at most \(maxSkewMilliseconds / 1000) s after")
        }
        if let maxAgeSeconds {
            let limit = maxAgeSecondsLimit
            let maxAge = min(max(maxAgeSeconds, -limit), limit)
            try trace.check(.tooOld, time.milliseconds <= creation + maxAge * 1_000) {
                created("at most \(maxAgeSeconds) s before")
            }
        }
        try trace.check(.expired, time <= payload.expiresAt) {
            Comparison("expiresAt", .time(payload.expiresAt), expected: .text("\(RFC3339.text(time)) or later"))
        }
    }
}

/// A receipt's checks have the names of their reasons.
extension CheckTracer {
    @inline(__always)
    fileprivate func check(
        _ refusal: ReceiptRefusal,
        _ isMet: Bool,
        _ comparison: () -> Comparison?
    ) throws(ReceiptRefusal) {
        try check(refusal.rawValue, isMet, else: refusal, comparison)
    }

    @inline(__always)
    fileprivate func passed(_ refusal: ReceiptRefusal, _ comparison: () -> Comparison?) {
        passed(refusal.rawValue, comparison)
    }

    @inline(__always)
    fileprivate func failed(_ refusal: ReceiptRefusal, _ comparison: () -> Comparison?) -> ReceiptRefusal {
        failed(refusal.rawValue, refusal, comparison)
    }
}

extension ReceiptVerdict {
    fileprivate init(_ payload: ReceiptPayload) {
        (type, createdAt, notBefore) = (payload.type, payload.createdAt, payload.notBefore)
        (expiresAt, riskMetric) = (payload.expiresAt, payload.riskMetric)
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
    package var keyID: KeyID?
    /// Compared in ATTEST receipts only: Apple corrupts field 4 of RECEIPT ones.
    package var clientDataHash: [UInt8]?
    /// The leaf certificate, DER, compared with field 3 byte for byte.
    package var leaf: [UInt8]?
    /// The five-minute rule for a receipt that arrives with its attestation; nil = not applied.
    package var maxAgeSeconds: Int64?

    package init(appIDs: [AppID], environments: Set<Environment>) {
        (self.appIDs, self.environments) = (appIDs, environments)
    }
}
