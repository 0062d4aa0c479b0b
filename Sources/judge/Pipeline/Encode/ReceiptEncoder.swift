internal import AppAttest
internal import AppCheck
internal import Streams

/// The receipts topic: each key's last receipt as Apple signed it, on its request's partition number. Headers say what
/// a reader needs to know when a receipt is due, so that nobody decodes it for that.
struct ReceiptEncoder {
    /// The apps' names, by index.
    private let names: [String]
    private let hasTopic: Bool

    init(_ settings: PipelineSettings) {
        names = settings.registry.apps.map(\.name)
        hasTopic = settings.hasReceipts
    }

    /// - Returns: nil where the record changes no receipt. A duplicate does not: the first one's was written with it.
    func encode(_ decoded: DecodedRecord, _ finding: Finding, _ verdict: Verdict) -> OutboundRecord? {
        guard hasTopic else { return nil }
        switch verdict.outcome {
        case .accepted: break
        case .refused(.unknownKey, _) where decoded.verb == .verifyReceipt:
            // A receipt of a key that was forgotten, or that a reset took, is of no more use.
            return decoded.keyID.map { record($0, decoded, value: nil) }
        case .refused, .deferred, .deadLetter, .applied: return nil
        }
        if let command = decoded.command?.command {
            // Also where it is delivered again: the attestations behind it are, too.
            guard command.action == .forget, case .key(let keyID) = command.subject else { return nil }
            return record(keyID, decoded, value: nil)
        }
        guard !verdict.isDuplicate, let app = decoded.appIndex, let keyID = decoded.keyID,
            let (receipt, environment, bytes) = Self.receipt(finding.object, decoded.request?.body)
        else { return nil }
        var output = record(keyID, decoded, value: bytes)
        output.otherHeaders = headers(of: receipt, environment, app: names[app], decoded)
        return output
    }

    /// The receipt that a request has brought.
    private static func receipt(
        _ object: Finding,
        _ body: Request.Body?
    ) -> (ReceiptVerdict?, Environment, [UInt8])? {
        switch (object, body) {
        case (.attestation(.success(let evidence)), _):
            evidence.receiptBytes.map { (evidence.receipt, evidence.environment, $0) }
        case (.receipt(.success(let evidence)), .receipt(let bytes, _)?):
            (evidence.receipt, evidence.environment, bytes)
        default: nil
        }
    }

    private func record(_ keyID: KeyID, _ decoded: DecodedRecord, value: [UInt8]?) -> OutboundRecord {
        OutboundRecord(.receipts, of: decoded.record, key: keyID.recordKey, value: value)
    }

    private func headers(
        of receipt: ReceiptVerdict?,
        _ environment: Environment,
        app: String,
        _ decoded: DecodedRecord
    ) -> [RecordHeader] {
        var headers = [RecordHeader("app", app), RecordHeader("environment", environment.rawValue)]
        if let type = receipt?.type { headers.append(RecordHeader("type", type.rawValue)) }
        for (name, time) in [("created-at", receipt?.createdAt), ("not-before", receipt?.notBefore)] {
            if let time { headers.append(RecordHeader(name, String(time.milliseconds))) }
        }
        if let id = decoded.installationID { headers.append(RecordHeader("installation-id", id)) }
        return headers
    }
}
