internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON
internal import Streams

/// Scratch that is reused from one record to the next.
private struct Reading {
    var topic = ""
    var paths = RequestPaths()
    var payload = ByteScratch()
}

/// Decode (lanes): limits, headers, JSON, base64, the record key. A pure function of the record and of `now`.
package struct DecodeStage: Sendable {
    let settings: PipelineSettings
    let decoder: RequestDecoder

    package init(settings: PipelineSettings) {
        self.settings = settings
        decoder = settings.requestDecoder
    }

    /// - Parameters:
    ///   - now: the wall clock in live mode, nil in replay.
    ///   - poison: records that become dead letters without being looked at.
    ///   - work: notes each record before it is looked at.
    func decode(
        _ polled: ArraySlice<PolledRecord>,
        now: EvaluationTime?,
        poison: Poison = Poison(),
        work: WorkSlot? = nil
    ) -> DecodedGrain {
        var grain = DecodedGrain()
        grain.records.reserveCapacity(polled.count)
        var reading = Reading()
        for index in polled.indices {
            switch polled[index] {
            case .record(let record):
                work?.note(record)
                grain.records.append(decode(record, now: now, poison, &reading))
            case .uncopied(let record):
                work?.note(record.stamp)
                grain.records.append(decode(record.take(), now: now, poison, &reading))
            case .captureLine(let chunk, let range, let number):
                if let record = plain(chunk, range, now: now, &reading) {
                    grain.records.append(record)
                    continue
                }
                do throws(CaptureCodec.Fault) {
                    let record = try CaptureCodec.decode(chunk, in: range, lastTopic: &reading.topic)
                    grain.records.append(decode(record, now: now, Poison(), &reading))
                } catch {
                    guard !settings.skipsBadLines else {
                        grain.skippedLines += 1
                        continue
                    }
                    grain.fault = CaptureFault(lineNumber: number, reason: error.reason)
                    return grain
                }
            }
        }
        return grain
    }

    private func decode(
        _ record: consuming InboundRecord,
        now: EvaluationTime?,
        _ poison: Poison,
        _ reading: inout Reading
    ) -> DecodedRecord {
        if !poison.isEmpty, let letter = poisonous(record, poison) { return letter }
        let found = headers(of: record)
        let hasHeaders = found != nil && record.hasReadableHeaders
        let value = record.value ?? []
        let (request, other) = shape(of: record, value, hasHeaders: hasHeaders, &reading.paths)
        let digest = SHA256.hash(value)
        var headers = found ?? HeaderReading()
        if headers.requestID == nil { headers.requestID = Self.place(of: record) }
        // A request's bytes are no longer needed; a record that may become a dead letter keeps them.
        if request != nil { (record.value, record.headers) = (settings.keepsValues ? record.value : nil, []) }
        let hasTime = if case .command? = other { true } else { request != nil }
        return DecodedRecord(
            record: record,
            headers: headers,
            request: request,
            otherShape: other,
            valueDigest: digest,
            clockReason: hasTime ? clockReason(record.timestamp, now: now) : nil
        )
    }

    /// The id of a request without one.
    private static func place(of record: borrowing InboundRecord) -> ExactText {
        "\(record.topic)/\(record.partition)/\(record.offset)"
    }

    /// Decodes key and value alone, without headers and, where the record has no time, as of 1970. A request is
    /// returned as it is.
    package func bare(_ decoded: DecodedRecord) -> DecodedRecord {
        guard decoded.request == nil else { return decoded }
        var (record, reading) = (decoded.record, Reading())
        (record.headers, record.hasReadableHeaders) = ([], true)
        if !InboundRecord.timestamps.contains(record.timestamp) { record.timestamp = 0 }
        return decode(record, now: nil, Poison(), &reading)
    }

    /// An ordinary object in a capture's line, decoded without the record and the tree of its JSON; nil for any other.
    private func plain(
        _ chunk: [UInt8],
        _ range: Range<Int>,
        now: EvaluationTime?,
        _ reading: inout Reading
    ) -> DecodedRecord? {
        let bytes = chunk.span
        let limits = settings.limits
        guard let line = PlainCaptureLine(bytes, in: range, topic: reading.topic, payload: &reading.payload),
            let headers = HeaderReading(
                line,
                bytes,
                headerBytes: limits.headerBytes,
                requestIDBytes: limits.requestIDBytes
            ), headers.requestID != nil
        else { return nil }
        let text = bytes.extracting(line.key)
        guard
            let request = reading.payload.withBytes({
                decoder.plainRequest($0, recordKey: text, paths: &reading.paths)
            })
        else { return nil }
        let key = Bytes.copy(text)
        guard isInPlace(key, line.timestamp, line.partition) else { return nil }
        let record = InboundRecord(
            topic: reading.topic,
            partition: line.partition,
            offset: line.offset,
            timestamp: line.timestamp,
            key: key,
            value: settings.keepsValues ? reading.payload.withBytes { Bytes.copy($0) } : nil
        )
        return DecodedRecord(
            record: record,
            headers: headers,
            request: request,
            otherShape: nil,
            valueDigest: reading.payload.withBytes { SHA256.hash($0) },
            clockReason: clockReason(line.timestamp, now: now)
        )
    }

    /// Whether a record with the right key has a readable time and lies on its partition.
    private func isInPlace(_ key: [UInt8], _ timestamp: Int64, _ partition: Int32) -> Bool {
        guard InboundRecord.timestamps.contains(timestamp) else { return false }
        return settings.partitionOfKey.map { $0(key) == partition } ?? true
    }

    private func poisonous(_ record: InboundRecord, _ poison: Poison) -> DecodedRecord? {
        let isRefused = poison.refused.contains(RecordPlace(record))
        guard isRefused || poison.crashing.contains(WorkItem(RecordStamp(record))) else { return nil }
        var headers = HeaderReading()
        headers.requestID = Self.place(of: record)
        return DecodedRecord(
            record: record,
            headers: headers,
            request: nil,
            otherShape: .deadLetter(isRefused ? .tooLarge : .internal),
            valueDigest: SHA256.hash(record.value ?? []),
            clockReason: nil,
            isPoisonous: poison.shortened.contains(RecordPlace(record))
        )
    }

    /// A request, or another shape.
    private func shape(
        of record: InboundRecord,
        _ value: [UInt8],
        hasHeaders: Bool,
        _ paths: inout RequestPaths
    ) -> (Request?, other: DecodedRecord.Shape?) {
        if let letter = letter(record, hasHeaders: hasHeaders, NoTrace()) { return (nil, .deadLetter(letter)) }
        if let key = record.key, isInPlace(key, record.timestamp, record.partition),
            let request = decoder.plainRequest(value.span, recordKey: key.span, paths: &paths)
        {
            return (request, nil)
        }
        let shape = placed(decoder.decode(value, paths: &paths), record, NoTrace())
        if case .request(let request) = shape { return (request, nil) }
        return (nil, shape)
    }

    private func clockReason(_ timestamp: Int64, now: EvaluationTime?) -> Reason? {
        guard let now else { return nil }
        // Both are non-negative, so the difference fits.
        let age = now.milliseconds - timestamp
        if age > settings.clock.maxAgeMilliseconds { return .tooOld }
        return age < -settings.clock.maxAheadMilliseconds ? .fromFuture : nil
    }
}
