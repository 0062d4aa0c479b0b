package import Crypto

extension ObjectVerifier {
    /// Checks everything about an assertion except its signature, which is returned as a check.
    ///
    /// The signature is judged before any field is: of unsigned data only the shape (the extension map's included)
    /// affects the verdict.
    ///
    /// - Parameters:
    ///   - clientDataHash: 1 byte up to the verifier's limit.
    ///   - key: the attested key that the assertion must be signed with. One that is not a point on the curve is
    ///     `key-invalid`.
    package func prepareAssertion(
        _ object: [UInt8],
        clientDataHash: [UInt8],
        key: P256PublicKey,
        expectations: Expectations
    ) -> Prepared<AssertionEvidence> {
        prepareAssertion(object, clientDataHash, key, expectations, NoTrace())
    }

    func prepareAssertion<Tracer: CheckTracer>(
        _ object: [UInt8],
        _ clientDataHash: [UInt8],
        _ key: P256PublicKey,
        _ expectations: Expectations,
        _ trace: Tracer
    ) -> Prepared<AssertionEvidence> {
        guard let parts = parts(of: object, clientDataHash, trace) else {
            return Prepared(refused: .malformedAssertion)
        }
        let bytes = object.span
        let nonce = SHA256.hash(bytes.extracting(parts.object.authenticatorData), clientDataHash.span)
        func traced(_ prepared: Prepared<AssertionEvidence>) -> Prepared<AssertionEvidence> {
            guard Tracer.keepsChecks else { return prepared }
            return Prepared(check: prepared.check) { isValid in
                let verdict = prepared.conclude(prepared.checks.map { _ in isValid })
                Self.note(verdict, key, signature: .signature(parts.object, object, nonce, KeyID(of: key)), trace)
                return verdict
            }
        }
        guard let signature = P256Signature(strictDER: bytes.extracting(parts.object.signature)) else {
            return traced(Prepared(refused: Self.signatureRefusal(key)))
        }
        // The nonce is the message that ECDSA signs, so ECDSA sees its digest.
        let check = SignatureCheck.p256(key: key, digest: SHA256.hash(nonce), signature: signature)
        let content = Result { () throws(Refusal) in try Self.judge(parts.data, parts.entries, expectations, trace) }
        let prepared = Prepared(check: check, content: content) { check in
            guard case .p256(let key, _, _) = check else { return .signatureInvalid }
            return Self.signatureRefusal(key)
        }
        return traced(prepared)
    }

    /// - Parameter clientDataHash: nil = not judged.
    func parts(of object: [UInt8], _ clientDataHash: [UInt8]?, _ trace: some CheckTracer) -> AssertionParts? {
        let parts = AssertionParts(object, clientDataHash: clientDataHash, limits: limits)
        trace.note("object", parts == nil ? .failed(Refusal.malformedAssertion.code) : .passed, adds: false) {
            [.assertion(object, clientDataHash, limits, isRead: parts != nil)]
        }
        return parts
    }

    /// The refusal of a signature: if none can match a stored key, that is the store's fault, not the device's.
    private static func signatureRefusal(_ key: P256PublicKey) -> Refusal {
        P256PublicKey(x963: key.x963.span) == nil ? .keyInvalid : .signatureInvalid
    }

    /// The checks of key and signature, which are one: no signature is valid under a key that is not a point.
    private static func note(
        _ verdict: Result<AssertionEvidence, Refusal>,
        _ key: P256PublicKey,
        signature: Comparison,
        _ trace: some CheckTracer
    ) {
        let point = "a point of P-256"
        switch verdict {
        case .failure(.keyInvalid):
            _ = trace.failed("key", Refusal.keyInvalid) { Comparison("key", .bytes(key.x963), expected: .text(point)) }
        case .failure(.signatureInvalid):
            trace.passed("key") { Comparison("key", point, expected: point) }
            _ = trace.failed("signature", Refusal.signatureInvalid) { signature }
        default:
            trace.passed("key") { Comparison("key", point, expected: point) }
            trace.passed("signature") { signature }
        }
    }

    static func judge(
        _ data: AuthenticatorData,
        _ found: ExtensionEntries,
        _ expectations: Expectations,
        _ trace: some CheckTracer
    ) throws(Refusal) -> AssertionEvidence {
        let appID = try expectations.appID(of: data.rpIDHash, trace) { nil }
        // Without ED the map may be the beginning of a longer hash, which any app may have signed.
        let counts = data.announcesMap || expectations.extensionTrust == .any
        let (entries, isIgnored) = (counts ? found : .missing, found.isPresent && !counts)
        try entries.judge(by: expectations, isIgnored: isIgnored, trace)
        return AssertionEvidence(
            appID: appID,
            counter: data.counter,
            validationCategory: entries.validationCategory,
            bundleVersion: entries.bundleVersion,
            ignoresExtensions: isIgnored
        )
    }
}

/// An assertion's presented values, where they need words.
extension Comparison {
    static func assertion(
        _ object: [UInt8],
        _ clientDataHash: [UInt8]?,
        _ limits: ObjectLimits,
        isRead: Bool
    ) -> Comparison {
        let expected = "1 to \(limits.assertionBytes) bytes of strict CBOR with signature and authenticatorData"
        let parsed = try? AssertionObject(object.span, limits: limits)
        guard !isRead, let parsed, clientDataHash.map({ limits.allows(clientDataHash: $0) }) ?? true else {
            return .object(object, clientDataHash, limits, isRead ? "that form" : nil, expected: expected)
        }
        let data = "authenticatorData of \(Counted.text(parsed.authenticatorData.count, "byte"))"
        return Comparison("object", data + " that cannot be read as a whole", expected: expected)
    }

    static func signature(_ parsed: AssertionObject, _ object: [UInt8], _ nonce: Digest, _ keyID: KeyID) -> Comparison {
        let bytes = object.span
        let isDER = P256Signature(strictDER: bytes.extracting(parsed.signature)) != nil
        let written = ReportValue.bytes(bytes.array(parsed.signature)).description
        return Comparison(
            "signature",
            isDER ? written : "no strict DER of two numbers in range: " + written,
            expected: "by the key \(keyID.base64), over the nonce \(ReportValue.bytes(nonce.bytes))"
        )
    }
}
