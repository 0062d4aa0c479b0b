internal import Crypto

/// The evidence of a receipt that Apple has exchanged for an older one.
package struct ReceiptEvidence: Sendable, Equatable {
    package var receipt: ReceiptVerdict
    package var environment: Environment
    package var appID: AppID
    /// When the leaf in it was issued: that of the key's attestation.
    package var issued: IssueTime

    /// - Returns: nil where one of them cannot be read, which no accepted receipt has.
    fileprivate init?(_ receipt: ReceiptVerdict, _ object: [UInt8], _ appIDs: [AppID]) {
        guard let payload = ReceiptPayload(ofReceipt: object), let environment = payload.environment else { return nil }
        let bytes = payload.bytes.span
        let hash = SHA256.hash(bytes.extracting(payload.appID))
        guard let appID = appIDs.first(where: { $0.rpIDHash == hash }),
            let leaf = try? LeafCertificate(payload.leaf, bytes)
        else { return nil }
        (self.receipt, self.environment, self.appID) = (receipt, environment, appID)
        issued = IssueTime(of: leaf, bytes)
    }
}

extension ObjectVerifier {
    /// A day: what Apple answered may wait that long for its way here.
    private static var maxExchangedAgeSeconds: Int64 { 86_400 }

    /// Checks everything about what Apple answers to a receipt but its signature: a RECEIPT of this key, of one of the
    /// App IDs and environments expected.
    ///
    /// - Parameter time: when it arrived here; the signer is judged at the receipt's creation.
    package func prepareExchangedReceipt(
        _ object: [UInt8],
        keyID: KeyID,
        expectations: Expectations,
        at time: EvaluationTime
    ) -> Prepared<ReceiptEvidence> {
        prepareExchangedReceipt(object, keyID: keyID, expectations: expectations, at: time, NoTrace())
    }

    /// The same, check by check.
    package func prepareExchangedReceipt(
        _ object: [UInt8],
        keyID: KeyID,
        expectations: Expectations,
        at time: EvaluationTime,
        _ trace: some CheckTracer
    ) -> Prepared<ReceiptEvidence> {
        let appIDs = expectations.appIDs
        var expected = ReceiptExpectations(appIDs: appIDs, environments: expectations.environments)
        (expected.type, expected.keyID) = (.receipt, keyID)
        expected.maxAgeSeconds = Self.maxExchangedAgeSeconds
        let prepared = receipts.prepareReceipt(object, expectations: expected, at: time, trace)
        return Prepared(check: prepared.check) { isValid in
            let verdict = prepared.receiptVerdict(isValid: isValid)
            if let refusal = verdict.refusal { return .failure(.receipt(refusal)) }
            return ReceiptEvidence(verdict, object, appIDs).map { .success($0) } ?? .failure(.receipt(.malformed))
        }
    }
}
