package import Crypto

extension ObjectVerifier {
    /// An assertion field by field, and each check with its result.
    package func inspectAssertion(
        _ object: [UInt8],
        _ arguments: InspectionArguments,
        engine: any SignatureEngine
    ) -> ObjectReport {
        let bytes = object.span
        var fields = FieldList()
        fields.add("size", count: object.count)
        guard let parsed = try? AssertionObject(bytes, limits: limits) else {
            let expectations = arguments.expectations ?? Expectations(appIDs: [])
            let checks = CheckList.assertion.outcomes(
                .malformedAssertion,
                notJudged: [],
                compare: comparison(object, arguments, expectations).of
            )
            return ObjectReport(kind: .assertion, fields: fields.fields, checks: checks)
        }
        fields.add("signature", parsed.signature, of: bytes)
        fields.addAuthenticatorData(parsed.authenticatorData, bytes)
        fields.addEntries(parsed.authenticatorData.dropFirst(AuthenticatorData.byteCount), bytes)
        let expectations = arguments.expectations ?? Self.openExpectations(object, parsed.authenticatorData)
        fields.addTrust(inAssertion: parsed.authenticatorData, bytes, expectations.extensionTrust)
        var notJudged: Set<String> = arguments.expectations == nil ? ["app ID"] : []
        var refusal: Refusal?
        if let key = arguments.key, let hash = arguments.clientDataHash {
            let prepared = prepareAssertion(object, clientDataHash: hash, key: key, expectations: expectations)
            if case .failure(let found) = prepared.verified(by: engine) { refusal = found }
        } else {
            notJudged.formUnion(["key", "signature"])
            refusal = Self.refusalOfContent(object, parsed, expectations)
        }
        let checks = CheckList.assertion.outcomes(
            refusal,
            notJudged: notJudged,
            compare: comparison(object, arguments, expectations).of
        )
        return ObjectReport(kind: .assertion, fields: fields.fields, checks: checks)
    }

    private func comparison(
        _ object: [UInt8],
        _ arguments: InspectionArguments,
        _ expectations: Expectations
    ) -> AssertionComparison {
        AssertionComparison(object: object, arguments: arguments, expectations: expectations, limits: limits)
    }

    /// The refusal that the fields give without a signature over them.
    private static func refusalOfContent(
        _ object: [UInt8],
        _ parsed: AssertionObject,
        _ expectations: Expectations
    ) -> Refusal? {
        let bytes = object.span
        guard let (data, entries) = AssertionParts.read(parsed, bytes) else { return .malformedAssertion }
        let verdict = Result { () throws(Refusal) in try judge(data, entries, expectations) }
        guard case .failure(let refusal) = verdict else { return nil }
        return refusal
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
        var fields = FieldList()
        fields.addReceiptContent(object)
        var notJudged: Set<String> = [ReceiptRefusal.missing.rawValue]
        var expectations = expectations
        if expectations.appIDs.isEmpty {
            notJudged.insert(ReceiptRefusal.appID.rawValue)
            expectations.appIDs = FieldList.appID(ofReceipt: object).map { [$0] } ?? []
        }
        let prepared = prepareReceipt(object, expectations: expectations, at: time)
        let verdict = prepared.receiptVerdict(by: engine)
        if expectations.type == nil { notJudged.insert(ReceiptRefusal.type.rawValue) }
        if expectations.publicKey == nil && expectations.leaf == nil {
            notJudged.insert(ReceiptRefusal.keyMismatch.rawValue)
        }
        if expectations.clientDataHash == nil { notJudged.insert(ReceiptRefusal.clientHash.rawValue) }
        if expectations.maxAgeSeconds == nil { notJudged.insert(ReceiptRefusal.tooOld.rawValue) }
        let comparison = ReceiptComparison(
            receipt: object,
            expectations: expectations,
            time: time,
            roots: receipts.roots,
            maxBytes: limits.receiptBytes
        )
        let checks = CheckList.receipts.outcomes(verdict.refusal.map { .receipt($0) }, notJudged: notJudged) {
            refusal in
            guard case .receipt(let refusal) = refusal else { return nil }
            return comparison.of(refusal)
        }
        return ObjectReport(kind: .receipt, fields: fields.fields, checks: checks)
    }
}
