internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON

/// A result's `evidence`: facts from the verified object and the key's record, no more.
enum EvidenceEncoder {
    /// Written for accepted requests, and for those that the state refused after their object had passed every check.
    /// Of refusals by what a build or a token is: what was presented there.
    static func write(
        _ finding: Finding,
        _ verdict: Verdict,
        of decoded: DecodedRecord,
        into json: inout JSONWriter
    ) {
        if case .refused(.tokenInvalid, _) = verdict.outcome { return writeClaimed(finding, decoded, into: &json) }
        switch finding {
        case .exchange(let object, _): write(object, verdict, of: decoded, into: &json)
        case .attestation(.success(let evidence)): write(evidence, verdict, into: &json)
        case .receipt(.success(let evidence)): write(evidence, verdict, into: &json)
        case .assertion(.success(let evidence)) where !verdict.isUnverified: write(evidence, verdict, into: &json)
        default:
            if case .refused(.object(let refusal), _) = verdict.outcome {
                writePresented(refusal, decoded, into: &json)
            } else {
                writeRecord(verdict, into: &json)
            }
        }
    }

    /// The device has signed these by then. A name has the hash that was refused; entries of a map that does not count
    /// were judged as missing.
    private static func writePresented(_ refusal: Refusal, _ decoded: DecodedRecord, into json: inout JSONWriter) {
        let isOfName = refusal == .appIDMismatch
        guard isOfName || refusal.isOfEntries, let traits = DeviceTraits.claimed(in: decoded.request) else { return }
        let (name, category) = isOfName ? (traits.appID, nil) : (nil, traits.validationCategory)
        let version = isOfName ? nil : traits.bundleVersion
        guard name != nil || category != nil || version != nil else { return }
        json.key("evidence")
        json.beginObject()
        member("presentedAppId", name, &json)
        if let category { json.member("presentedCategory", category) }
        member("presentedBundleVersion", version, &json)
        let hasMissing = refusal == .categoryMissing ? category != nil : version != nil
        if hasMissing, [.categoryMissing, .bundleVersionMissing].contains(refusal) {
            json.member("extensionsIgnored", true)
        }
        json.endObject()
    }

    /// Nobody has verified what the token says of itself.
    private static func writeClaimed(_ finding: Finding, _ decoded: DecodedRecord, into json: inout JSONWriter) {
        json.key("evidence")
        json.beginObject()
        json.member("tokenFault", finding.tokenFault.rawValue)
        if case .verifyToken(let token)? = decoded.request?.body, let claimed = ClaimedToken(token) {
            json.key("claimed")
            json.beginObject()
            member("kid", claimed.kid, &json)
            member("iss", claimed.issuer, &json)
            json.key("aud")
            json.beginArray()
            for audience in claimed.audiences { json.string(validUTF8: audience.utf8) }
            json.endArray()
            if let end = claimed.expiresAt { json.member("exp", end) }
            json.endObject()
        }
        json.endObject()
    }

    /// What Apple answered to a receipt, with the counter of the key, if the ledger has it.
    private static func write(_ evidence: ReceiptEvidence, _ verdict: Verdict, into json: inout JSONWriter) {
        guard let counter = verdict.previousCounter else { return }
        open(evidence.environment, evidence.appID.text, &json)
        json.member("counter", counter)
        write(evidence.receipt, isExchanged: true, &json)
        json.endObject()
    }

    private static func write(_ evidence: AttestationEvidence, _ verdict: Verdict, into json: inout JSONWriter) {
        open(evidence.environment, evidence.appID.text, &json)
        json.member("counter", 0)
        json.member("publicKey", base64: evidence.publicKey.x963)
        member("platform", evidence.platform, &json)
        member("osVersion", evidence.osVersion, &json)
        entries(evidence.validationCategory, evidence.bundleVersion, areIgnored: evidence.ignoresExtensions, &json)
        json.key("leaf")
        json.beginObject()
        time("notBefore", evidence.leafNotBefore, &json)
        time("notAfter", evidence.leafNotAfter, &json)
        json.endObject()
        if let receipt = evidence.receipt { write(receipt, &json) }
        write(verdict.risk, &json)
        json.endObject()
    }

    private static func write(_ evidence: AssertionEvidence, _ verdict: Verdict, into json: inout JSONWriter) {
        // A refused request may have no key record, and so no environment to report.
        guard let environment = verdict.environment else { return }
        open(environment, evidence.appID.text, &json)
        json.syntax(",\"counter\":")
        json.value(evidence.counter)
        if let previous = verdict.previousCounter {
            json.syntax(",\"previousCounter\":")
            json.value(previous)
        }
        entries(evidence.validationCategory, evidence.bundleVersion, areIgnored: evidence.ignoresExtensions, &json)
        if verdict.isRestored { json.member("restored", true) }
        write(verdict.risk, &json)
        json.endObject()
    }

    /// Writes the ledger's facts for a duplicate whose object can no longer be verified (its certificates have
    /// expired).
    private static func writeRecord(_ verdict: Verdict, into json: inout JSONWriter) {
        guard let kept = verdict.duplicate, let environment = verdict.environment else { return }
        open(environment, kept.appleAppID, &json)
        json.member("counter", kept.counter)
        json.endObject()
    }

    private static func write(_ risk: RiskMetric?, _ json: inout JSONWriter) {
        guard let risk else { return }
        json.key("risk")
        json.beginObject()
        json.member("metric", UInt32(risk.value))
        time("createdAt", EvaluationTime(seconds: Int64(risk.createdAt)), &json)
        json.endObject()
    }

    /// - Parameter isExchanged: false for the receipt inside an attestation, which has neither of these two.
    private static func write(_ receipt: ReceiptVerdict, isExchanged: Bool = false, _ json: inout JSONWriter) {
        json.key("receipt")
        json.beginObject()
        json.member("verdict", receipt.refusal == nil ? "accepted" : "refused")
        if let refusal = receipt.refusal { json.member("reason", Refusal.receipt(refusal).code) }
        member("type", receipt.type.map { ExactText($0.rawValue) }, &json)
        if let created = receipt.createdAt { time("createdAt", created, &json) }
        if isExchanged, let notBefore = receipt.notBefore { time("notBefore", notBefore, &json) }
        if let expires = receipt.expiresAt { time("expiresAt", expires, &json) }
        if isExchanged { member("riskMetric", receipt.riskMetric, &json) }
        json.endObject()
    }

    private static func open(_ environment: Environment, _ appID: String, _ json: inout JSONWriter) {
        switch environment {
        case .production: json.syntax(",\"evidence\":{\"environment\":\"production\",\"appId\":")
        case .development: json.syntax(",\"evidence\":{\"environment\":\"development\",\"appId\":")
        }
        json.string(appID)
    }

    private static func entries(
        _ category: UInt32?,
        _ bundleVersion: ExactText?,
        areIgnored: Bool,
        _ json: inout JSONWriter
    ) {
        if let category { json.member("validationCategory", category) }
        member("bundleVersion", bundleVersion, &json)
        if areIgnored { json.member("extensionsIgnored", true) }
    }

    private static func member(_ name: StaticString, _ text: ExactText?, _ json: inout JSONWriter) {
        if let text { json.member(name, validUTF8: text.utf8) }
    }

    private static func time(_ name: StaticString, _ time: EvaluationTime, _ json: inout JSONWriter) {
        json.key(name)
        ResultEncoder.write(time, into: &json)
    }
}

extension Refusal {
    /// Whether an entry of the extension map refuses, or its absence.
    fileprivate var isOfEntries: Bool {
        [.categoryMissing, .categoryNotAllowed, .bundleVersionMissing, .bundleVersionNotAllowed].contains(self)
    }
}
