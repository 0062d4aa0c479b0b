internal import CRdkafka
internal import Glibc
internal import KafkaPorts
internal import Streams
internal import Synchronization
internal import Threads

/// Notes of the library's callbacks for the thread that polls.
///
/// Every callback registered here but that of log lines runs inside a poll, flush or close call of the client's owner, so
/// nothing here needs a lock. ``ClientHandle`` keeps this object alive for as long as callbacks can come.
final class CallbackContext {
    /// The topic whose partitions a consumer's rebalances are about.
    let topic: String
    /// Changes of assignment not yet handed to the caller, oldest first.
    var changes: [GroupEvent] = []
    /// Set while the consumer closes: no caller can answer a change any more, so the callback gives everything back.
    var isClosing = false
    /// The outcomes of all records so far, without the ledger's offsets; the fault is the first one since the last flush.
    var deliveries = DeliverySummary()
    /// The reports of records with tickets, for a producer that takes them.
    var reports: [DeliveryReport] = []

    private static let givenUp = [
        RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__PURGE_QUEUE,
        RD_KAFKA_RESP_ERR__PURGE_INFLIGHT,
    ]

    /// The offsets of one topic's acknowledged records, for a producer that asked for them.
    var deliveredOffsets: DeliveredOffsets?
    /// Set for a client whose requests are to be counted.
    var requests: RequestCounts?
    private let log: (@Sendable (ClientLog.Line) -> Void)?
    private let isLeaving = Atomic<Bool>(false)
    /// The topic for which a transaction was refused: the client's faults omit it, its log names it, on any thread.
    private let refusal = Locked<String?>(nil)
    /// Errors, refusals and statistics, as the client reports them.
    private(set) var observations = ConsumerObservations()
    /// OpenSSL's verdict on brokers' certificates.
    let certificates = CertificateCheck()
    /// Whether this client has its own certificate.
    var hasCertificate = false
    /// The tokens that this client proves itself with, where a command prints them.
    var tokens: ClientTokens?

    /// - Parameter log: takes the client's lines; nil = ``ClientLog`` does.
    init(topic: String = "", _ log: (@Sendable (ClientLog.Line) -> Void)? = nil) {
        (self.topic, self.log) = (topic, log)
    }

    func register(in configuration: OpaquePointer, for kind: ClientKind) {
        // Unretained: ClientHandle keeps this object until the client is destroyed.
        unsafe rd_kafka_conf_set_opaque(configuration, Unmanaged.passUnretained(self).toOpaque())
        unsafe rd_kafka_conf_set_error_cb(configuration) { _, code, reason, opaque in
            let text = unsafe reason.map { unsafe String(cString: $0) } ?? ""
            unsafe CallbackContext.from(opaque)?.noteError(rd_kafka_resp_err_t(code), text)
        }
        unsafe rd_kafka_conf_set_stats_cb(configuration) { _, text, count, opaque in
            // The library's text, which it frees after this call.
            let bytes = unsafe Array(UnsafeRawBufferPointer(start: text, count: count))
            unsafe CallbackContext.from(opaque)?.observations.statistics = bytes
            return 0
        }
        unsafe registerLog(in: configuration)
        unsafe ClientThrottles.register(in: configuration)
        if let requests { unsafe requests.register(in: configuration) }
        switch kind {
        case .consumer:
            unsafe rd_kafka_conf_set_rebalance_cb(configuration) { client, code, partitions, opaque in
                unsafe CallbackContext.from(opaque)?.noteRebalance(client, code, partitions)
            }
        case .producer:
            unsafe rd_kafka_conf_set_dr_msg_cb(configuration) { _, message, opaque in
                unsafe CallbackContext.from(opaque)?.noteDelivery(message)
            }
        }
    }

    /// Lines come at once, on threads of the library: one that waits for a poll comes late, and with the poll's time.
    private func registerLog(in configuration: OpaquePointer) {
        unsafe rd_kafka_conf_set_log_cb(configuration) { client, level, facility, text in
            guard let client = unsafe client, let facility = unsafe facility, let text = unsafe text else { return }
            let context = unsafe CallbackContext.from(rd_kafka_opaque(client))
            if unsafe strcmp(facility, "ADDPARTS") == 0 { unsafe context?.noteRefusal(String(cString: text)) }
            let isLeaving = context?.isLeaving.load(ordering: .relaxed) ?? false
            let graded = isLeaving ? max(level, LOG_DEBUG) : level
            unsafe ClientLog.write(client, graded, facility, text, to: context?.log)
        }
    }

    /// The client is to go from now on: what its connections report then is not an error.
    func leave() { isLeaving.store(true, ordering: .relaxed) }

    /// The last topic for which a transaction was refused.
    var refusedTopic: String? {
        get { refusal.withLock { $0 } }
        set { refusal.withLock { $0 = newValue } }
    }

    static func from(_ opaque: UnsafeMutableRawPointer?) -> CallbackContext? {
        // The pointer is the one registered above, of an object that outlives the client.
        unsafe opaque.map { unsafe Unmanaged<CallbackContext>.fromOpaque($0).takeUnretainedValue() }
    }

    private func noteError(_ code: rd_kafka_resp_err_t, _ reason: String) {
        observations.errors[KafkaFault(code, reason).name, default: 0] += 1
        // "All brokers are down" follows the error that says why; keep that one.
        guard code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || observations.connectionFault == nil else { return }
        let fault = connectionFault(code, reason)
        observations.connectionFault = fault
        if fault.mayNeedNewClient { observations.refusals += 1 }
    }

    private func connectionFault(_ code: rd_kafka_resp_err_t, _ reason: String) -> KafkaFault {
        let error = certificates.error
        guard let words = TLSWords.explained(reason, verifyError: error, hasCertificate: hasCertificate) else {
            let isRefused = code == RD_KAFKA_RESP_ERR__AUTHENTICATION && !Self.isTransport(reason)
            if isRefused, let tokens {
                // The next token may be let in: so this passes, like a broker that is away.
                tokens.noteRefusal()
                return KafkaFault(RD_KAFKA_RESP_ERR__TRANSPORT, reason)
            }
            return KafkaFault(code, reason).suspecting(oldClient: isRefused)
        }
        return KafkaFault(words.kind == .broken ? code : RD_KAFKA_RESP_ERR__AUTHENTICATION, words.sentence)
            .suspecting(oldClient: words.kind == .ours)
    }

    /// The library calls every handshake that fails one of authentication, lost connections and time-outs too.
    private static func isTransport(_ reason: String) -> Bool {
        let words = ["local:", "timed out", "disconnected", "transport failure"]
        let text = reason.lowercased()
        return words.contains { text.contains($0) }
    }

    /// The line reads: Failed to add partition "topic" [0] to transaction: Broker: Topic authorization failed.
    private func noteRefusal(_ line: String) {
        let words = line.split(separator: "\"", omittingEmptySubsequences: false)
        guard words.count == 3, line.hasSuffix(KafkaFault.text(of: RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED))
        else { return }
        refusedTopic = String(words[1])
    }

    private func noteRebalance(
        _ client: OpaquePointer?,
        _ code: rd_kafka_resp_err_t,
        _ list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>?
    ) {
        guard !isClosing, let list = unsafe list else {
            // Closing waits until the assignment is given back.
            _ = unsafe rd_kafka_assign(client, nil)
            return
        }
        let partitions = unsafe TopicPartitionList.partitions(of: list, topic: topic)
        if code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            changes.append(.assigned(partitions))
        } else {
            // Asked here, inside the callback: later the flag is about another assignment.
            let lost = unsafe rd_kafka_assignment_lost(client) != 0
            changes.append(lost ? .lost(partitions) : .revoked(partitions))
        }
        // The poll that this callback runs in returns at once instead of waiting for a message.
        unsafe rd_kafka_yield(client)
    }

    /// A record without an offset counts for itself, and no output may have one. The library reports it as delivered where a
    /// later batch of its partition was acknowledged, even if a broker has refused its own: a broker takes any first sequence
    /// number of a producer that it does not know, as of a new topic or after a change of leaders.
    private func noteDelivery(_ pointer: UnsafePointer<rd_kafka_message_t>?) {
        guard let pointer = unsafe pointer, case let message = unsafe pointer.pointee else { return }
        let isDelivered = unsafe message.err == RD_KAFKA_RESP_ERR_NO_ERROR
        if let ticket = unsafe message._private { unsafe noteReport(pointer, UInt(bitPattern: ticket)) }
        if isDelivered, unsafe message.offset >= 0 {
            deliveries.acknowledged += 1
            unsafe deliveredOffsets?.note(pointer)
            return
        }
        if isDelivered { deliveries.withoutOffset += 1 } else { deliveries.failed += 1 }
        if unsafe Self.givenUp.contains(message.err) { deliveries.unsent += 1 }
        guard deliveries.firstFault == nil else { return }
        let topic = unsafe String(cString: rd_kafka_topic_name(message.rkt))
        let record = unsafe "a record for \(topic), partition \(message.partition),"
        deliveries.firstFault =
            isDelivered
            ? .stale("\(record) was acknowledged without an offset: it may be lost")
            : unsafe KafkaFault(message.err, doing: "\(record) was not delivered").of(topic: topic)
    }

    /// A record is in the topic only where its offset is known: see ``noteDelivery(_:)``.
    private func noteReport(_ message: UnsafePointer<rd_kafka_message_t>, _ ticket: UInt) {
        let (code, offset) = unsafe (message.pointee.err, message.pointee.offset)
        let isWritten = code == RD_KAFKA_RESP_ERR_NO_ERROR && offset >= 0
        let isUnsent = unsafe rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED
        reports.append(
            DeliveryReport(
                ticket: ticket,
                outcome: isWritten ? .written : isUnsent ? .notWritten : .unknown,
                offset: isWritten ? offset : nil,
                timestamp: isWritten ? unsafe DeliveryReport.appendTime(of: message) : nil,
                broker: isWritten ? unsafe rd_kafka_message_broker_id(message) : nil,
                fault: code == RD_KAFKA_RESP_ERR_NO_ERROR
                    ? nil : KafkaFault(code, doing: "a record was not delivered")
            )
        )
    }
}

extension DeliveryReport {
    /// When the broker appended a record; nil where the topic keeps the producers' times.
    static func appendTime(of message: UnsafePointer<rd_kafka_message_t>) -> Int64? {
        let stamp = unsafe RecordStamp(message)
        return stamp.hasLogAppendTime ? stamp.timestamp : nil
    }
}
