internal import AppAttest
internal import AppCheck
internal import Streams

/// Decode's checks of the record around a request.
extension DecodeStage {
    /// nil where the headers exceed a limit: see ``HeaderReading``.
    func headers(of record: InboundRecord) -> HeaderReading? {
        let limits = settings.limits
        return HeaderReading(record.headers, headerBytes: limits.headerBytes, requestIDBytes: limits.requestIDBytes)
    }

    /// The reason why a record has no value that can be read.
    func letter(
        _ record: InboundRecord,
        hasHeaders: Bool,
        _ trace: some CheckTracer
    ) -> DeadLetterReason? {
        func size() -> Comparison {
            let presented = record.value.map { Counted.text($0.count, "byte") } ?? "absent"
            return Comparison("value", presented, expected: "1 to \(settings.limits.valueBytes) bytes")
        }
        guard let value = record.value else { return trace.failed("value", .nullValue) { size() } }
        guard value.count <= settings.limits.valueBytes else { return trace.failed("value", .tooLarge) { size() } }
        trace.passed("value") { size() }
        guard hasHeaders else { return trace.failed("headers", .badHeaders) { .headers(of: record, settings.limits) } }
        trace.passed("headers") { .headers(of: record, settings.limits) }
        return nil
    }

    /// The request of a value, if its record lies where that takes effect.
    func placed(
        _ decoded: RequestDecoding,
        _ record: InboundRecord,
        _ trace: some CheckTracer
    ) -> DecodedRecord.Shape {
        switch decoded {
        case .deadLetter(let reason): return .deadLetter(reason)
        case .refused(let reason, let path, let keyID, let status):
            return .refused(reason, path: path, keyID: keyID, status: status)
        case .command(let found, let path):
            let (required, named) = (found.command.requiredRecordKey, found.command.partition)
            do throws(Reason) { try checkPlace(of: record, required, named, trace) } catch {
                return .refused(error, path: path, keyID: nil, status: error.status(appID: nil))
            }
            return .command(found, path: path)
        case .request(let request):
            do throws(Reason) { try checkPlace(of: record, request.requiredRecordKey, nil, trace) } catch {
                let status = error.status(appID: request.appID)
                return .refused(error, path: request.path, keyID: request.keyID, status: status)
            }
            return .request(request)
        }
    }

    /// State lies where a record takes effect: the record key must be what is required, on the partition where the
    /// partitioner puts it, and a command on the partition that it names.
    private func checkPlace(
        of record: InboundRecord,
        _ required: [UInt8]?,
        _ named: Int32?,
        _ trace: some CheckTracer
    ) throws(Reason) {
        let hasTime = InboundRecord.timestamps.contains(record.timestamp)
        try trace.check("timestamp", hasTime, else: Reason.malformedRequest) {
            let expected = "a time from 1970 to 9999 in milliseconds"
            return Comparison("timestamp", "\(record.timestamp)", expected: expected)
        }
        func check(_ name: String, _ partition: Int32) throws(Reason) {
            try trace.check(name, partition == record.partition, else: Reason.keyMismatch) {
                let presented = ReportValue.number(Int64(record.partition))
                return Comparison("partition", presented, expected: .number(Int64(partition)))
            }
        }
        if let named { try check("partition of the command", named) }
        guard let required else { return }
        try trace.check("record key", record.key == required, else: Reason.keyMismatch) {
            let key = record.key.map { Comparison.text($0) } ?? "absent"
            return Comparison("record key", key, expected: Comparison.text(required))
        }
        guard let partitionOfKey = settings.partitionOfKey else {
            return trace.notJudged("partition", "a replay does not judge the partition of a key")
        }
        try check("partition", partitionOfKey(required))
    }

    /// Decodes a record once more, check by check.
    ///
    /// - Returns: the request, of a record with a wrong key or time too.
    func explain(_ decoded: DecodedRecord, _ trace: CheckTrace) -> Request? {
        let record = decoded.record
        if let request = decoded.request {
            trace.passed("request") { nil }
            _ = placed(.request(request), record, trace)
            return request
        }
        let hasHeaders = headers(of: record) != nil && record.hasReadableHeaders
        guard letter(record, hasHeaders: hasHeaders, trace) == nil, let value = record.value else { return nil }
        let read = decoder.decode(value, trace)
        _ = placed(read, record, trace)
        if case .request(let request) = read { return request }
        return nil
    }
}
