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
        guard limits.allows(clientDataHash: clientDataHash) else { return Prepared(refused: .malformedAttestation) }
        do throws(Refusal) {
            let chain = try readChain(object)
            let check = try chain.issuer.signatureCheck(of: chain.leaf, object.span)
            let content = AttestationContent(
                bytes: object,
                chain: chain,
                clientDataHash: clientDataHash,
                keyID: keyID,
                expectations: expectations,
                time: time
            )
            return prepare(content, leafCheck: check)
        } catch {
            return Prepared(refused: error)
        }
    }

    /// The object's parts, both certificates good by themselves, and the intermediate issued by a root.
    func readChain(_ object: [UInt8]) throws(Refusal) -> AttestationChain {
        let bytes = object.span
        let parsed = try AttestationObject(bytes, limits: limits)
        guard bytes.holds(AttestationObject.appleFormat, in: parsed.format) else { throw .badFormat }
        guard parsed.certificates.count == 2, let leaf = try? LeafCertificate(parsed.certificates[0], bytes) else {
            throw .badCertificate
        }
        let issuer = try intermediates.trusted(parsed.certificates[1], bytes)
        return AttestationChain(object: parsed, leaf: leaf, issuer: issuer)
    }

    /// Judges the content at once, so that only signatures stay open. The content counts only if the leaf's signature
    /// holds: `chain` comes before every reason that rests on the leaf.
    private func prepare(_ content: AttestationContent, leafCheck: SignatureCheck) -> Prepared<AttestationEvidence> {
        let judged = Result { () throws(Refusal) in try content.judged() }
        return Prepared(
            check: leafCheck,
            next: { isValid in
                guard isValid else { return .concluded(.failure(.chain)) }
                switch judged {
                case .failure(let refusal): return .concluded(.failure(refusal))
                case .success(let judged): return self.withReceipt(of: content, judged)
                }
            }
        )
    }

    /// The receipt comes last: its certificates cost more than everything before it, and any sender could attach them
    /// to a leaf that Apple never signed.
    private func withReceipt(
        of content: AttestationContent,
        _ judged: JudgedAttestation
    ) -> Prepared<AttestationEvidence>.Step {
        guard let receipt = prepareReceipt(of: content, judged.evidence) else {
            return .concluded(Result { () throws(Refusal) in try judged.concluded(with: nil) })
        }
        let rest = Prepared<AttestationEvidence>(check: receipt.check) { isValid in
            let verdict = receipt.receiptVerdict(isValid: isValid)
            return Result { () throws(Refusal) in try judged.concluded(with: verdict) }
        }
        return rest.check == nil ? rest.advance(isValid: true) : .open(rest)
    }

    /// Five minutes, Apple's rule for a receipt that arrives with its attestation.
    static let maxReceiptAgeSeconds: Int64 = 300

    /// The receipt inside, compared with its attestation; nil if there is none or the policy ignores it.
    func prepareReceipt(
        of content: AttestationContent,
        _ evidence: AttestationEvidence
    ) -> Prepared<ReceiptVerdict>? {
        guard content.judgesReceipt, let range = content.chain.object.receipt else { return nil }
        var expectations = ReceiptExpectations(appIDs: [evidence.appID], environments: [evidence.environment])
        expectations.type = .attest
        expectations.publicKey = evidence.publicKey
        expectations.clientDataHash = content.clientDataHash.isEmpty ? nil : content.clientDataHash
        expectations.leaf = Array(content.bytes[content.chain.object.certificates[0]])
        expectations.maxAgeSeconds = Self.maxReceiptAgeSeconds
        return receipts.prepareReceipt(Array(content.bytes[range]), expectations: expectations, at: content.time)
    }
}
