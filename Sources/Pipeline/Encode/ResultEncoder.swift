internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON
internal import Log

/// A result's JSON: the members of the contract in its order, no secrets.
enum ResultEncoder {
    static func encode(_ decoded: DecodedRecord, _ finding: Finding, _ verdict: Verdict) -> [UInt8] {
        // Most results fit, and it is small enough for the allocator's fast path.
        var json = JSONWriter(capacity: 960)
        let (path, keyID) = names(decoded)
        json.beginObject()
        json.key("requestId")
        json.string(validUTF8: decoded.requestID.utf8)
        json.key("path")
        json.string(validUTF8: path.utf8)
        json.key("keyId")
        if let keyID { keyID.digest.withBytes { json.base64($0) } } else { json.null() }
        write(verdict, finding, into: &json)
        write(source: decoded.record, into: &json)
        json.key("evaluatedAt")
        if InboundRecord.timestamps.contains(decoded.record.timestamp) {
            write(EvaluationTime(milliseconds: decoded.record.timestamp), into: &json)
        } else {
            json.null()
        }
        json.endObject()
        return json.takeBytes()
    }

    /// The key ID that the result names: the body's, else the record key if that is one.
    private static func names(_ decoded: DecodedRecord) -> (path: ExactText, keyID: KeyID?) {
        var recordKey: KeyID? { decoded.record.key.flatMap { KeyID(recordKey: $0) } }
        switch decoded.shape {
        case .request(let request): return (request.path, request.keyID)
        case .refused(_, let path, let keyID, _): return (path, keyID ?? recordKey)
        case .deadLetter: return ("", recordKey)
        }
    }

    private static func write(_ verdict: Verdict, _ finding: Finding, into json: inout JSONWriter) {
        json.key("verdict")
        let status: Status
        switch verdict.outcome {
        case .accepted:
            json.string("accepted")
            status = .ok
        case .refused(let reason, let answered), .deferred(let reason, let answered):
            json.string(reason.isDeferral ? "deferred" : "refused")
            json.key("reason")
            json.string(reason.code)
            status = answered
        case .deadLetter, .applied: preconditionFailure("neither has a result")
        }
        json.key("status")
        json.beginObject()
        json.key("code")
        json.value(status.code)
        json.key("status")
        json.string(status.status)
        json.key("message")
        json.string(validUTF8: status.message.utf8)
        json.endObject()
        if verdict.isDuplicate {
            json.key("duplicate")
            json.value(true)
        }
        if case .verification(let alreadyConsumed)? = verdict.order {
            json.key("response")
            json.raw(ExchangeAnswer.verification(alreadyConsumed: alreadyConsumed))
        }
        EvidenceEncoder.write(finding.object, verdict, into: &json)
    }

    private static func write(source record: InboundRecord, into json: inout JSONWriter) {
        json.key("source")
        json.beginObject()
        json.key("topic")
        json.string(record.topic)
        json.key("partition")
        json.value(record.partition)
        json.key("offset")
        json.value(record.offset)
        json.key("timestamp")
        json.value(record.timestamp)
        json.endObject()
    }

    static func write(_ time: EvaluationTime, into json: inout JSONWriter) { json.string(validUTF8: time.rfc3339) }
}
