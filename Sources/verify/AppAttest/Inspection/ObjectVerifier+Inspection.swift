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
    /// Whether a receipt's refusal counts as the app's policy says, as in a worker; else every refused receipt counts.
    package var appliesReceiptPolicy = false

    package init() {}

    func expectations(_ data: Range<Int>?, _ object: [UInt8]) -> Expectations {
        let hash = data.flatMap { AuthenticatorData($0, object.span)?.rpIDHash }
        let open = Expectations(
            appIDs: hash.map { [AppID(unnamed: $0)] } ?? [],
            environments: Set(Environment.allCases)
        )
        var expectations = expectations ?? open
        if expectations.receipt == .ignore, !appliesReceiptPolicy { expectations.receipt = .report }
        return expectations
    }

    fileprivate var notJudged: Set<String> { expectations == nil ? ["app ID"] : [] }
}

/// Objects explained: the verification itself under a tracer, and all fields that can be read.
extension ObjectVerifier {
    /// An attestation field by field, and each check with its result.
    package func inspectAttestation(
        _ object: [UInt8],
        _ arguments: InspectionArguments,
        at time: EvaluationTime,
        engine: any SignatureEngine
    ) -> ObjectReport {
        let parsed = try? AttestationObject(object.span, limits: limits)
        let expectations = arguments.expectations(parsed?.authenticatorData, object)
        let (hash, trace) = (arguments.clientDataHash, CheckTrace(knownAppIDs: knownAppIDs))
        let prepared = prepareAttestation(object, hash, arguments.keyID, expectations, at: time, trace)
        let evidence = try? prepared.verified(by: engine).get()
        var fields = FieldList()
        fields.addAttestation(parsed, object)
        fields.addTrust(inAttestation: parsed, object, evidence, isHashGiven: hash != nil)
        let checks = trace.checks(CheckNames.attestation, notJudged: arguments.notJudged).map { check in
            guard case .reported(let code) = check.outcome, !arguments.appliesReceiptPolicy else { return check }
            return TracedCheck(check.name, .failed(code), check.comparisons)
        }
        return ObjectReport(kind: .attestation, fields: fields.fields, checks: checks)
    }

    /// An assertion field by field, and each check with its result.
    package func inspectAssertion(
        _ object: [UInt8],
        _ arguments: InspectionArguments,
        engine: any SignatureEngine
    ) -> ObjectReport {
        let parsed = try? AssertionObject(object.span, limits: limits)
        let expectations = arguments.expectations(parsed?.authenticatorData, object)
        let trace = CheckTrace(knownAppIDs: knownAppIDs)
        if let key = arguments.key, let hash = arguments.clientDataHash {
            _ = prepareAssertion(object, hash, key, expectations, trace).verified(by: engine)
        } else if let parts = parts(of: object, arguments.clientDataHash, trace) {
            // The fields without a signature over them.
            _ = try? Self.judge(parts.data, parts.entries, expectations, trace)
        }
        var fields = FieldList()
        fields.addAssertion(parsed, object, expectations.extensionTrust)
        let checks = trace.checks(CheckNames.assertion, notJudged: arguments.notJudged)
        return ObjectReport(kind: .assertion, fields: fields.fields, checks: checks)
    }

    /// A receipt on its own: its content, and each check with its result.
    ///
    /// - Parameter expectations: the values it must agree with; checks of nil or empty ones are not judged.
    package func inspectReceipt(
        _ object: [UInt8],
        expectations: ReceiptExpectations,
        at time: EvaluationTime,
        engine: any SignatureEngine
    ) -> ObjectReport {
        let trace = CheckTrace()
        var (fields, expectations) = (FieldList(), expectations)
        fields.addReceiptContent(object)
        var notJudged: Set<ReceiptRefusal> = []
        if expectations.appIDs.isEmpty {
            notJudged.insert(.appID)
            expectations.appIDs = FieldList.appID(ofReceipt: object).map { [$0] } ?? []
        }
        if expectations.type == nil { notJudged.insert(.type) }
        if expectations.publicKey == nil && expectations.leaf == nil { notJudged.insert(.keyMismatch) }
        _ = receipts.prepareReceipt(object, expectations: expectations, at: time, trace).receiptVerdict(by: engine)
        let checks = trace.checks(CheckNames.receipt, notJudged: Set(notJudged.map(\.rawValue)))
        return ObjectReport(kind: .receipt, fields: fields.fields, checks: checks)
    }
}
