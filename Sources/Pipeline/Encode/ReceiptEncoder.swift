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
        guard hasTopic, verdict.isAccepted else { return nil }
        if let command = decoded.command?.command {
            // Also where it is delivered again: the attestations behind it are, too.
            guard command.action == .forget, case .key(let keyID) = command.subject else { return nil }
            return record(keyID, decoded, value: nil)
        }
        guard !verdict.isDuplicate, let app = decoded.appIndex, let keyID = decoded.keyID,
            case .attestation(.success(let evidence)) = finding.object, let bytes = evidence.receiptBytes
        else { return nil }
        var receipt = record(keyID, decoded, value: bytes)
        receipt.otherHeaders = headers(of: evidence, app: names[app], decoded)
        return receipt
    }

    private func record(_ keyID: KeyID, _ decoded: DecodedRecord, value: [UInt8]?) -> OutboundRecord {
        OutboundRecord(
            stream: .receipts,
            partition: decoded.record.partition,
            sourceOffset: decoded.record.offset,
            sourceTimestamp: decoded.record.timestamp,
            key: keyID.recordKey,
            value: value
        )
    }

    private func headers(of evidence: AttestationEvidence, app: String, _ decoded: DecodedRecord) -> [RecordHeader] {
        var headers = [RecordHeader("app", app), RecordHeader("environment", evidence.environment.rawValue)]
        let receipt = evidence.receipt
        if let type = receipt?.type { headers.append(RecordHeader("type", type.rawValue)) }
        for (name, time) in [("created-at", receipt?.createdAt), ("not-before", receipt?.notBefore)] {
            if let time { headers.append(RecordHeader(name, String(time.milliseconds))) }
        }
        if let id = decoded.installationID { headers.append(RecordHeader("installation-id", id)) }
        return headers
    }
}
