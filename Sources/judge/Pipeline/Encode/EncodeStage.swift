internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON
internal import Streams

/// Encode (lanes): builds the output records of each verdict, on its request's partition number.
package struct EncodeStage: Sendable {
    /// The size limit of one output, key, value and headers together; the broker refuses larger ones. nil = no limit.
    private let maxRecordBytes: Int?
    private let mint: MintStage
    private let events: EventEncoder
    private let receipts: ReceiptEncoder
    private let registry: Registry
    private let replyPartitions: Int32?

    package init(settings: PipelineSettings) {
        maxRecordBytes = settings.maxRecordBytes
        mint = MintStage(settings: settings)
        events = EventEncoder(registry: settings.registry)
        receipts = ReceiptEncoder(settings)
        registry = settings.registry
        replyPartitions = settings.replyPartitions
    }

    /// The outputs of a grain's records, followed by those of the ledger topic; none of it counts where a key did not sign.
    ///
    /// - Parameters:
    ///   - range: of the records, then of the changes.
    ///   - work: notes each record before it is looked at.
    func encode(
        _ range: Range<Int>,
        _ records: [DecodedRecord],
        _ findings: [Finding],
        _ verdicts: [Verdict],
        changes: [(partition: Int32, change: LedgerChange)],
        work: WorkSlot
    ) -> (outputs: [OutboundRecord], counts: GrainCounts, unsigned: SigningKey.Kinds) {
        var (outputs, counts, scratch) = ([OutboundRecord](), GrainCounts(), JSONWriter(capacity: 1024))
        outputs.reserveCapacity(range.count)
        // Elements of spans are read in place.
        let (all, findings, verdicts, changes) = (records.span, findings.span, verdicts.span, changes.span)
        let judged = range.clamped(to: 0..<records.count)
        let answers = mint.answers(judged, records, verdicts, work: work)
        counts.timestamps.reserveCapacity(judged.count)
        for index in judged {
            let decoded = all[index]
            work.note(decoded)
            let (first, answer) = (outputs.count, answers[index])
            encode(decoded, findings[index], verdicts[index], answer, into: &outputs, &scratch)
            guard first < outputs.count else { continue }
            // The first of its outputs is the result, or the dead letter that stands for it.
            let stream = outputs[first].stream
            counts.add(
                decoded,
                findings[index],
                verdicts[index],
                stream,
                hasAnswer: answer != nil,
                replyPartitions: replyPartitions,
                in: registry
            )
        }
        for index in range.dropFirst(judged.count) {
            let place = index - all.count
            outputs.append(OutboundRecord(changes[place].change, partition: changes[place].partition))
        }
        return (outputs, counts, answers.unsigned)
    }

    /// Appends the outputs of one record: exactly one result or one dead letter, then the reply that a result's request
    /// asks for, the answer and the event of an exchange, and a key's receipt.
    ///
    /// The broker must accept every output: one that it refuses would stop its partition.
    ///
    /// - Parameters:
    ///   - answer: for the tokens topic, if there is one.
    ///   - scratch: room for one output after another.
    private func encode(
        _ decoded: DecodedRecord,
        _ finding: Finding,
        _ verdict: Verdict,
        _ answer: [UInt8]?,
        into outputs: inout [OutboundRecord],
        _ scratch: inout JSONWriter
    ) {
        switch verdict.outcome {
        case .deadLetter(let reason): return outputs.append(deadLetter(decoded, reason))
        case .applied: return
        case .accepted, .refused, .deferred: break
        }
        appendResult(decoded, finding, verdict, into: &outputs, &scratch)
        if decoded.replyTo != nil { appendReply(decoded, verdict, answer, into: &outputs) }
        if let answer {
            append(.tokens, of: decoded, answer, status: verdict.status, to: &outputs)
        }
        if let event = events.encode(decoded, finding, verdict) {
            append(.events, of: decoded, event, status: nil, to: &outputs)
        }
        if let receipt = receipts.encode(decoded, finding, verdict), fits(receipt.byteCount) { outputs.append(receipt) }
    }

    /// An output of a request is made where it stays: a copy counts four references.
    private func append(
        _ stream: OutputTopic,
        of decoded: DecodedRecord,
        _ value: consuming [UInt8],
        status: Int?,
        to outputs: inout [OutboundRecord]
    ) {
        outputs.append(
            OutboundRecord(
                stream: stream,
                partition: decoded.record.partition,
                sourceOffset: decoded.record.offset,
                sourceTimestamp: decoded.record.timestamp,
                key: decoded.record.key,
                value: consume value,
                otherHeaders: decoded.traceHeaders,
                requestID: decoded.requestID.utf8,
                status: status
            )
        )
        dropLongKey(&outputs[outputs.count - 1])
    }

    private func appendResult(
        _ decoded: DecodedRecord,
        _ finding: Finding,
        _ verdict: Verdict,
        into outputs: inout [OutboundRecord],
        _ scratch: inout JSONWriter
    ) {
        scratch.restart()
        ResultEncoder.encode(decoded, finding, verdict, into: &scratch)
        append(.results, of: decoded, scratch.bytes, status: verdict.status, to: &outputs)
        let last = outputs.count - 1
        if !verdict.isAccepted, !fits(outputs[last].byteCount) { outputs[last] = deadLetter(decoded, .tooLarge) }
    }

    /// Appends the reply after the record's result, if it has one and waits on a partition that exists.
    private func appendReply(
        _ decoded: DecodedRecord,
        _ verdict: Verdict,
        _ answer: [UInt8]?,
        into outputs: inout [OutboundRecord]
    ) {
        guard let partition = decoded.replyTo, (0..<(replyPartitions ?? 0)).contains(partition),
            let result = outputs.last, result.stream == .results
        else { return }
        var reply = result
        (reply.stream, reply.partition, reply.key) = (.replies, partition, decoded.record.key)
        reply.value = ReplyBody.bytes(verdict, answer: answer, verb: decoded.verb) ?? result.value
        // A gateway compares a 403 with its own apps.json; its device never sees why.
        if case .refused(let reason, let status) = verdict.outcome, status.code == 403 {
            reply.otherHeaders.append(RecordHeader("reason", reason.code))
        }
        dropLongKey(&reply)
        outputs.append(reply)
    }

    /// A key ID's text has 44 bytes: if a record is too long because of its key, that key is another one. In place: to
    /// read an element of an array copies it.
    private func dropLongKey(_ output: inout OutboundRecord) { if !fits(output.byteCount) { output.key = nil } }

    private func fits(_ byteCount: Int) -> Bool { maxRecordBytes.map { byteCount <= $0 } ?? true }

    /// The original record without `dlq.*` headers, so that a consumer never sees two `dlq.reason`.
    private func deadLetter(_ decoded: DecodedRecord, _ reason: DeadLetterReason) -> OutboundRecord {
        let record = decoded.record
        let origin = [
            RecordHeader("dlq.reason", reason.rawValue),
            RecordHeader("dlq.topic", record.topic),
            RecordHeader("dlq.partition", String(record.partition)),
            RecordHeader("dlq.offset", String(record.offset)),
        ]
        // Thousands of headers cost more than any value: they are left out at once.
        let isFlooded = record.headers.count > HeaderReading.maxHeaders
        var letter = OutboundRecord(.deadLetters, of: record, key: record.key, value: record.value)
        letter.otherHeaders = isFlooded ? origin : record.headers.filter { !$0.name.starts(with: "dlq.".utf8) } + origin
        letter.requestID = decoded.requestID.utf8
        guard decoded.isPoisonous || isFlooded || !fits(letter.byteCount) else { return letter }
        // The value is dropped first, and its hash kept; then the headers, then the key.
        let mark = [
            RecordHeader("dlq.truncated", "true"),
            RecordHeader("dlq.sha256", Hexadecimal.encode(decoded.valueDigest.bytes)),
        ]
        letter.otherHeaders += mark
        if decoded.isPoisonous || !isFlooded || !fits(letter.byteCount) { letter.value = nil }
        // A record that the broker refused once is not tried again with more than the necessary headers.
        if decoded.isPoisonous || !fits(letter.byteCount) { letter.otherHeaders = origin + mark }
        if decoded.isPoisonous || !fits(letter.byteCount) { letter.key = nil }
        return letter
    }
}

extension OutboundRecord {
    /// An output that a request brings, on the request's partition number.
    init(_ stream: OutputTopic, of request: InboundRecord, key: [UInt8]?, value: [UInt8]?) {
        self.init(
            stream: stream,
            partition: request.partition,
            sourceOffset: request.offset,
            sourceTimestamp: request.timestamp,
            key: key,
            value: value
        )
    }
}

extension RecordHeader {
    init(_ name: String, _ value: ExactText) { self.init(name: Array(name.utf8), value: value.utf8) }
}

/// The value of a reply: the body of the REST answer.
enum ReplyBody {
    /// - Parameters:
    ///   - answer: of the tokens topic.
    ///   - verb: of the request; nil where that is unknown.
    /// - Returns: nil where the result itself is the body: for our own verbs, whose callers want verdict and evidence.
    static func bytes(_ verdict: Verdict, answer: [UInt8]?, verb: Verb?) -> [UInt8]? {
        switch verdict.outcome {
        case .refused(let reason, let status), .deferred(let reason, let status):
            return ExchangeAnswer.error(status, reason: verb?.tellsReason == true ? reason.code : nil)
        case .accepted, .deadLetter, .applied: break
        }
        if let answer { return answer }
        guard case .verification(let alreadyConsumed)? = verdict.order else { return nil }
        return ExchangeAnswer.verification(alreadyConsumed: alreadyConsumed)
    }
}
