package import Crypto

/// The arguments for explaining an object; nil ones are not judged, or taken from the object itself.
package struct InspectionArguments: Sendable {
    /// Nil: the nonce, or an assertion's signature, is not judged.
    package var clientDataHash: [UInt8]?
    /// Nil: the key ID of the leaf's own key.
    package var keyID: KeyID?
    /// Nil: an assertion's signature is not judged.
    package var key: P256PublicKey?
    /// Nil: the App ID that the object names by its hash, in both environments, with any entries.
    package var expectations: Expectations?
    /// All configured App IDs: a hash that the app does not list may be another app's.
    package var knownAppIDs: [AppID] = []
    /// Whether a receipt's refusal counts as the app's policy says, as in a worker; else every refused receipt counts.
    package var appliesReceiptPolicy = false

    package init() {}
}

extension ObjectVerifier {
    /// An attestation field by field, and each check with its result.
    package func inspectAttestation(
        _ object: [UInt8],
        _ arguments: InspectionArguments,
        at time: EvaluationTime,
        engine: any SignatureEngine
    ) -> ObjectReport {
        var fields = attestationFields(object)
        var notJudged: Set<String> = []
        var evidence: AttestationEvidence?
        if arguments.clientDataHash == nil { notJudged.insert("nonce") }
        if arguments.expectations == nil { notJudged.insert("app ID") }
        var failedStep: String?
        var (refusal, reported): (Refusal?, Refusal?)
        do throws(Refusal) {
            let found = try inspectedEvidence(object, arguments, at: time, engine: engine)
            evidence = found
            if let receipt = found.receipt {
                let refused = receipt.refusal.map { Refusal.receipt($0) }
                if arguments.appliesReceiptPolicy { reported = refused } else { refusal = refused }
            } else {
                notJudged.insert("receipt")
            }
        } catch {
            refusal = error
            if error == .malformedAuthData { failedStep = Self.stepOfMalformedData(object, limits: limits) }
        }
        fields.addTrust(inAttestation: object, evidence, isHashGiven: arguments.clientDataHash != nil, limits: limits)
        let comparison = comparison(object, arguments, at: time, engine: engine)
        var checks = CheckList.attestation.outcomes(
            refusal,
            at: failedStep,
            notJudged: notJudged,
            compare: comparison.of
        )
        if let reported, let last = checks.popLast() {
            let shown = comparison.of(reported).map { [$0] } ?? []
            checks.append(
                ReportCheck(name: last.name, codes: last.codes, outcome: .reported(reported), comparisons: shown)
            )
        }
        return ObjectReport(kind: .attestation, fields: fields.fields, checks: checks)
    }

    private func comparison(
        _ object: [UInt8],
        _ arguments: InspectionArguments,
        at time: EvaluationTime,
        engine: any SignatureEngine
    ) -> AttestationComparison {
        let data = (try? AttestationObject(object.span, limits: limits))?.authenticatorData
        let expectations = arguments.expectations ?? Self.openExpectations(object, data ?? 0..<0)
        var comparison = AttestationComparison(object: object, arguments, expectations, at: time, by: self)
        if comparison.hasUnannouncedMap, expectations.receipt != .ignore,
            let receipt = comparison.receipt(expectations)
        {
            let prepared = receipts.prepareReceipt(receipt.bytes, expectations: receipt.expected, at: time)
            comparison.isVouched = prepared.receiptVerdict(by: engine).vouchesForHash
        }
        return comparison
    }

    /// The verification itself, without the nonce where there is nothing to compare it with.
    private func inspectedEvidence(
        _ object: [UInt8],
        _ arguments: InspectionArguments,
        at time: EvaluationTime,
        engine: any SignatureEngine
    ) throws(Refusal) -> AttestationEvidence {
        let chain = try readChain(object)
        var expectations = arguments.expectations ?? Self.openExpectations(object, chain.object.authenticatorData)
        if expectations.receipt == .ignore, !arguments.appliesReceiptPolicy { expectations.receipt = .report }
        let content = AttestationContent(
            bytes: object,
            chain: chain,
            clientDataHash: arguments.clientDataHash ?? [],
            keyID: arguments.keyID ?? chain.leaf.key.map { KeyID(of: $0) } ?? KeyID(SHA256.hash([])),
            expectations: expectations,
            time: time
        )
        guard let hash = arguments.clientDataHash else {
            let check = try chain.issuer.signatureCheck(of: chain.leaf, object.span)
            guard engine.verify([check]) == [true] else { throw .chain }
            try content.judgeDates()
            let judged = try content.judgedFields(nonce: SHA256.hash([]))
            let receipt = prepareReceipt(of: content, judged.evidence)
            return try judged.concluded(with: receipt.map { $0.receiptVerdict(by: engine) })
        }
        return try prepareAttestation(
            object,
            clientDataHash: hash,
            keyID: content.keyID,
            expectations: expectations,
            at: time
        ).verified(by: engine).get()
    }

    /// Data too short for its fixed part fails another check than a map that cannot be read.
    private static func stepOfMalformedData(_ object: [UInt8], limits: ObjectLimits) -> String {
        let parsed = try? AttestationObject(object.span, limits: limits)
        let isComplete = (parsed?.authenticatorData.count ?? 0) >= AttestedCredential.endOffset
        return isComplete ? "extension map" : "authenticator data"
    }

    static func openExpectations(_ object: [UInt8], _ data: Range<Int>) -> Expectations {
        let appIDs = AuthenticatorData(data, object.span).map { [AppID(unnamed: $0.rpIDHash)] }
        return Expectations(appIDs: appIDs ?? [], environments: Set(Environment.allCases))
    }

    private func attestationFields(_ object: [UInt8]) -> FieldList {
        let bytes = object.span
        var fields = FieldList()
        fields.add("size", count: object.count)
        guard let parsed = try? AttestationObject(bytes, limits: limits) else { return fields }
        fields.add("format", text: bytes.text(parsed.format))
        fields.add("certificates", count: parsed.certificates.count)
        let leaf = parsed.certificates.first.flatMap { try? LeafCertificate($0, object.span) }
        if let leaf { fields.addLeaf(leaf, bytes) }
        if let second = parsed.certificates.dropFirst().first, let issuer = CACertificate(der: bytes.array(second)) {
            fields.addIntermediate(issuer)
        }
        let data = parsed.authenticatorData
        fields.addAuthenticatorData(data, bytes)
        fields.add("authData.appId", text: PresentedAppID.of(parsed, leaf, bytes))
        fields.addCredential(data, bytes)
        fields.addEntries(data.dropFirst(AttestedCredential.endOffset), bytes)
        if let receipt = parsed.receipt { fields.addReceiptContent(bytes.array(receipt)) }
        return fields
    }
}
