internal import AppAttest
internal import AppCheck
internal import Log

/// The record itself, before anything in it is verified.
extension Explainer {
    func judge(_ record: DecodedRecord, _ look: inout SecondLook) {
        if look.verdict.isDuplicate {
            look.walk.skip("all checks", "the request was accepted before, under the same id and with the same value")
            return
        }
        switch record.shape {
        case .deadLetter: letter(record, &look.walk)
        case .refused: refused(record, &look.walk)
        case .request(let request):
            look.walk.add("request", nil as Reason?, nil)
            place(record.record, request, &look.walk)
            judge(request, &look)
        case .command(let command, _):
            look.walk.add("command", nil as Reason?, nil)
            judge(command.command, &look)
        }
    }

    private func letter(_ record: DecodedRecord, _ walk: inout CheckWalk) {
        let (limits, inbound) = (settings.limits, record.record)
        let size = inbound.value.map { "\(Counted.text($0.count, "byte"))" } ?? "absent"
        let value = Comparison("value", size, expected: "1 to \(limits.valueBytes) bytes")
        let isTooLarge = (inbound.value?.count ?? 0) > limits.valueBytes
        let sized: DeadLetterReason? = inbound.value == nil ? .nullValue : isTooLarge ? .tooLarge : nil
        walk.add("value", sized?.rawValue, [value])
        headers(inbound, &walk)
        guard let bytes = inbound.value, sized == nil else { return }
        guard case .deadLetter(let found) = decoder.decode(bytes) else { return }
        let isJSON = found != .notJSON
        let json = Comparison("JSON", isJSON ? "JSON" : "other bytes", expected: "strict UTF-8 JSON")
        walk.add("JSON", isJSON ? nil : found.rawValue, [json])
        let path = Comparison("path", "absent, or no text", expected: "a member path that is a text")
        walk.add("path", isJSON ? found.rawValue : nil, [path])
    }

    private func headers(_ record: InboundRecord, _ walk: inout CheckWalk) {
        let limits = settings.limits
        let reading = HeaderReading(
            record.headers,
            headerBytes: limits.headerBytes,
            requestIDBytes: limits.requestIDBytes
        )
        let bytes = record.headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) }
        let id = record.headers.last { $0.name.elementsEqual("request-id".utf8) }
        let idText = id.map { "\(Counted.text($0.value?.count ?? 0, "byte"))" } ?? "absent"
        let presented =
            record.hasReadableHeaders
            ? "\(Counted.text(record.headers.count, "header")) of \(Counted.text(bytes, "byte")), request-id \(idText)"
            : "unreadable"
        let row = Comparison(
            "headers",
            presented,
            expected: "at most \(HeaderReading.maxHeaders) headers of \(limits.headerBytes) bytes, "
                + "request-id absent or 1 to \(limits.requestIDBytes) bytes of UTF-8"
        )
        let isRead = reading != nil && record.hasReadableHeaders
        walk.add("headers", isRead ? nil : DeadLetterReason.badHeaders.rawValue, [row])
    }

    private func refused(_ record: DecodedRecord, _ walk: inout CheckWalk) {
        guard let value = record.record.value else { return }
        walk.add(decoder.checks(value))
        if let request = Self.requestOf(record, decoder) { place(record.record, request, &walk) }
        if case .command(let found, _) = decoder.decode(value) {
            time(record.record, &walk)
            place(found.command, of: record, &walk)
        }
    }

    /// The record's time, its key, and the partition that the key belongs on.
    private func place(_ record: InboundRecord, _ request: Request, _ walk: inout CheckWalk) {
        time(record, &walk)
        guard let required = request.requiredRecordKey else { return }
        place(record, requiring: required, &walk)
    }

    private func time(_ record: InboundRecord, _ walk: inout CheckWalk) {
        let hasTime = InboundRecord.timestamps.contains(record.timestamp)
        let expected = "a time from 1970 to 9999 in milliseconds"
        let time = Comparison("timestamp", "\(record.timestamp)", expected: expected)
        walk.add("timestamp", hasTime, else: .malformedRequest, time)
    }

    func place(_ record: InboundRecord, requiring required: [UInt8], _ walk: inout CheckWalk) {
        let key = record.key.map { Self.text($0) } ?? "absent"
        let row = Comparison("record key", key, expected: Self.text(required))
        walk.add("record key", record.key == required, else: .keyMismatch, row)
        guard let partitionOfKey = settings.partitionOfKey else {
            return walk.skip("partition", "a replay does not judge the partition of a key")
        }
        let computed = partitionOfKey(required)
        let presented = ReportValue.number(Int64(record.partition))
        let place = Comparison("partition", presented, expected: .number(Int64(computed)))
        walk.add("partition", computed == record.partition, else: .keyMismatch, place)
    }

    static func text(_ bytes: [UInt8]) -> String {
        ExactText(validating: Array(bytes.prefix(300)))?.shown
            ?? ReportValue.bytes(Array(bytes.prefix(300))).description
    }

    /// Against the wall clock, which a replay does not have.
    func age(_ look: inout SecondLook) {
        guard let now else { return look.walk.skip("age", "a replay does not judge the age of a record") }
        let clock = settings.clock
        let (oldest, newest) = (
            now.milliseconds - clock.maxAgeMilliseconds, now.milliseconds + clock.maxAheadMilliseconds
        )
        let time = look.record.record.timestamp
        let reason: Reason? = time < oldest ? .tooOld : time > newest ? .fromFuture : nil
        let span = [oldest, newest].map { ReportValue.time(EvaluationTime(milliseconds: $0)).description }
        let row = Comparison("record's time", .time(look.time), expected: .text("\(span[0]) to \(span[1])"))
        look.walk.add("age", reason, row)
    }
}
