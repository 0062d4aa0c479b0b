internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON
internal import Streams

/// A result's JSON: the members of the contract in its order, no secrets.
enum ResultEncoder {
    /// Appends one result to what the writer holds.
    static func encode(_ decoded: DecodedRecord, _ finding: Finding, _ verdict: Verdict, into json: inout JSONWriter) {
        let path = decoded.request?.path ?? otherPath(decoded)
        json.syntax("{\"requestId\":")
        json.string(validUTF8: decoded.requestID.utf8)
        json.syntax(",\"path\":")
        json.string(validUTF8: path.utf8)
        json.syntax(",\"keyId\":")
        if let keyID = keyID(decoded) { keyID.digest.withBytes { json.base64($0) } } else { json.null() }
        write(verdict, into: &json)
        EvidenceEncoder.write(finding, verdict, of: decoded, into: &json)
        write(source: decoded, into: &json)
        json.syntax(",\"evaluatedAt\":")
        if InboundRecord.timestamps.contains(decoded.record.timestamp) {
            write(EvaluationTime(milliseconds: decoded.record.timestamp), into: &json)
        } else {
            json.null()
        }
        json.endObject()
    }

    private static func otherPath(_ decoded: DecodedRecord) -> ExactText {
        switch decoded.shape {
        case .refused(_, let path, _, _), .command(_, let path): path
        case .request, .deadLetter: ""
        }
    }

    /// The key ID that the result names: the body's, else the record key if that is one.
    private static func keyID(_ decoded: DecodedRecord) -> KeyID? {
        if decoded.verb != nil { return decoded.keyID }
        if case .refused(_, _, let keyID?, _) = decoded.shape { return keyID }
        return decoded.record.key.flatMap { KeyID(recordKey: $0) }
    }

    private static func write(_ verdict: Verdict, into json: inout JSONWriter) {
        switch verdict.outcome {
        case .accepted:
            json.syntax(
                ",\"verdict\":\"accepted\",\"status\":{\"code\":200,\"status\":\"OK\",\"message\":\"\"}",
                endsValue: true
            )
        case .refused(let reason, let status), .deferred(let reason, let status):
            write(reason, status, into: &json)
        case .deadLetter, .applied: preconditionFailure("neither has a result")
        }
        if verdict.isDuplicate { json.member("duplicate", true) }
        if case .verification(let alreadyConsumed)? = verdict.order {
            json.member("response", raw: ExchangeAnswer.verification(alreadyConsumed: alreadyConsumed))
        }
    }

    private static func write(_ reason: Reason, _ status: Status, into json: inout JSONWriter) {
        json.syntax(",\"verdict\":")
        json.string(reason.isDeferral ? "deferred" : "refused")
        json.syntax(",\"reason\":")
        json.string(reason.code)
        json.syntax(",\"status\":{\"code\":")
        json.value(status.code)
        json.syntax(",\"status\":")
        json.string(status.status)
        json.syntax(",\"message\":")
        json.string(validUTF8: status.message.utf8)
        json.endObject()
    }

    private static func write(source decoded: DecodedRecord, into json: inout JSONWriter) {
        json.syntax(",\"source\":{\"topic\":")
        json.string(decoded.record.topic)
        json.syntax(",\"partition\":")
        json.value(decoded.record.partition)
        json.syntax(",\"offset\":")
        json.value(decoded.record.offset)
        json.syntax(",\"timestamp\":")
        json.value(decoded.record.timestamp)
        json.endObject()
    }

    static func write(_ time: EvaluationTime, into json: inout JSONWriter) {
        let text = RFC3339Text(time)
        json.string(validUTF8: text.bytes.span.extracting(..<text.count))
    }
}
