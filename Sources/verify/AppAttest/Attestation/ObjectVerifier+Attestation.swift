internal import Crypto

extension ObjectVerifier {
    /// Checks everything about an attestation but its signatures, which come back as checks to be verified in groups.
    ///
    /// - Parameters:
    ///   - object: the CBOR attestation object, as received.
    ///   - clientDataHash: 1 byte up to the verifier's limit; Apple's own samples pass raw challenges.
    ///   - keyID: the key ID the request names.
    ///   - time: certificates and receipt are judged at this time.
    package func prepareAttestation(
        _ object: [UInt8],
        clientDataHash: [UInt8],
        keyID: KeyID,
        expectations: Expectations,
        at time: EvaluationTime
    ) -> Prepared<AttestationEvidence> {
        prepareAttestation(object, clientDataHash, keyID, expectations, at: time, NoTrace())
    }

    /// - Parameters:
    ///   - clientDataHash: nil = the nonce is not judged.
    ///   - keyID: nil = the key ID of the leaf's own key.
    func prepareAttestation<Tracer: CheckTracer>(
        _ object: [UInt8],
        _ clientDataHash: [UInt8]?,
        _ keyID: KeyID?,
        _ expectations: Expectations,
        at time: EvaluationTime,
        _ trace: Tracer
    ) -> Prepared<AttestationEvidence> {
        do throws(Refusal) {
            let (chain, check) = try readChain(object, clientDataHash, trace)
            let content = AttestationContent(
                bytes: object,
                chain: chain,
                clientDataHash: clientDataHash,
                keyID: keyID ?? chain.leaf.key.map { KeyID(of: $0) } ?? KeyID(SHA256.hash([])),
                expectations: expectations,
                time: time,
                trace: trace
            )
            return prepare(content, leafCheck: check)
        } catch {
            return Prepared(refused: error)
        }
    }

    /// The object's parts, both certificates good by themselves, the intermediate issued by a root, and the leaf's
    /// signature.
    private func readChain(
        _ object: [UInt8],
        _ clientDataHash: [UInt8]?,
        _ trace: some CheckTracer
    ) throws(Refusal) -> (AttestationChain, SignatureCheck) {
        let bytes = object.span
        guard clientDataHash.map({ limits.allows(clientDataHash: $0) }) ?? true,
            let parsed = try? AttestationObject(bytes, limits: limits)
        else {
            throw trace.failed("object", .malformedAttestation) {
                .attestation(object, clientDataHash, limits, isRead: false)
            }
        }
        trace.passed("object") { .attestation(object, clientDataHash, limits, isRead: true) }
        let isApple = bytes.holds(AttestationObject.appleFormat, in: parsed.format)
        try trace.check("format", isApple, else: Refusal.badFormat) {
            .format(parsed, object.span)
        }
        guard parsed.certificates.count == 2, let leaf = try? LeafCertificate(parsed.certificates[0], bytes) else {
            throw trace.failed("certificates", .badCertificate) { .certificates(parsed, isLeafUsable: false) }
        }
        do throws(Refusal) {
            let issuer = try intermediates.trusted(parsed.certificates[1], bytes)
            let check = try issuer.signatureCheck(of: leaf, bytes)
            trace.passed("certificates") { .certificates(parsed, isLeafUsable: true, isIssuerUsable: true) }
            return (AttestationChain(object: parsed, leaf: leaf, issuer: issuer), check)
        } catch {
            let isUsable = error == .chain
            trace.note("certificates", isUsable ? .passed : .failed(error.code), adds: false) {
                [.certificates(parsed, isLeafUsable: true, isIssuerUsable: isUsable)]
            }
            guard isUsable else { throw error }
            throw trace.failed("chain", error) { .issuers(parsed, leaf, object, intermediates.roots) }
        }
    }

    /// Judges the content at once, so that only signatures stay open. The content counts only if the leaf's signature
    /// holds: `chain` comes before every reason that rests on the leaf.
    private func prepare(
        _ content: AttestationContent<some CheckTracer>,
        leafCheck: SignatureCheck
    ) -> Prepared<AttestationEvidence> {
        let judged = Result { () throws(Refusal) in try content.judged() }
        return Prepared(
            check: leafCheck,
            next: { isValid in
                let conclusion = Result { () throws(Refusal) in
                    try content.trace.check("chain", isValid, else: Refusal.chain) {
                        .issuers(content.chain.object, content.chain.leaf, content.bytes, self.intermediates.roots)
                    }
                    return try judged.get()
                }
                switch conclusion {
                case .failure(let refusal): return .concluded(.failure(refusal))
                case .success(let judged): return self.withReceipt(of: content, judged)
                }
            }
        )
    }

    /// The receipt comes last: its certificates cost more than everything before it, and any sender could attach them
    /// to a leaf that Apple never signed.
    private func withReceipt(
        of content: AttestationContent<some CheckTracer>,
        _ judged: JudgedAttestation
    ) -> Prepared<AttestationEvidence>.Step {
        let (trace, part) = (content.trace, content.trace.part())
        guard let bytes = content.judgedReceipt else {
            return .concluded(Result { () throws(Refusal) in try judged.concluded(with: nil, trace, part) })
        }
        let receipt = prepareReceipt(bytes, of: content, judged.evidence, part)
        let kept = content.expectations.keepsReceipts ? bytes : nil
        let rest = Prepared<AttestationEvidence>(check: receipt.check) { isValid in
            let verdict = receipt.receiptVerdict(isValid: isValid)
            return Result { () throws(Refusal) in
                var evidence = try judged.concluded(with: verdict, trace, part)
                if verdict.isGenuine { evidence.receiptBytes = kept }
                return evidence
            }
        }
        return rest.check == nil ? rest.advance(isValid: true) : .open(rest)
    }

    /// Five minutes, Apple's rule for a receipt that arrives with its attestation.
    private static var maxReceiptAgeSeconds: Int64 { 300 }

    /// The receipt inside, compared with its attestation.
    private func prepareReceipt<Tracer: CheckTracer>(
        _ receipt: [UInt8],
        of content: AttestationContent<Tracer>,
        _ evidence: AttestationEvidence,
        _ part: Tracer
    ) -> Prepared<ReceiptVerdict> {
        var expectations = ReceiptExpectations(appIDs: [evidence.appID], environments: [evidence.environment])
        expectations.type = .attest
        expectations.publicKey = evidence.publicKey
        expectations.clientDataHash = content.clientDataHash
        expectations.leaf = Array(content.bytes[content.chain.object.certificates[0]])
        expectations.maxAgeSeconds = Self.maxReceiptAgeSeconds
        return receipts.prepareReceipt(receipt, expectations: expectations, at: content.time, part)
    }
}
