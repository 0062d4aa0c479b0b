internal import CRdkafka
internal import KafkaPorts

/// The one owner of a librdkafka client, which begins to end with this object: see ``ClientCloser``.
///
/// `context` is handed to the library unretained as the callbacks' opaque pointer. It is kept for as long as callbacks can
/// come.
@safe
final class ClientHandle {
    let pointer: OpaquePointer
    let context: CallbackContext
    /// Set once callbacks come with the messages: serving the queue separately would then take messages away.
    private var servesWithMessages = false
    private let generation = ClientFiles.generation
    /// Gives back, on the thread that destroys the client, what was made from it.
    var lastCall: (() -> Void)?

    init(_ kind: ClientKind, _ properties: KafkaProperties, context: CallbackContext) throws(KafkaFault) {
        // The configuration is ours until rd_kafka_new succeeds; from then on it belongs to the client.
        let configuration = try unsafe properties.makeConfiguration(for: kind)
        unsafe context.register(in: configuration, for: kind)
        if properties.checksCertificates {
            context.hasCertificate = properties.hasCertificate
            unsafe context.certificates.register(in: configuration)
        }
        context.tokens = properties[KafkaProperties.tokenCommand].map(ClientTokens.of)
        let type = kind == .consumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER
        let (pointer, text) = unsafe libraryText { unsafe rd_kafka_new(type, configuration, $0, $1) }
        guard let pointer = unsafe pointer else {
            if let fault = Self.passing(rd_kafka_last_error().rawValue, text) {
                // Its threads may run, and use both: they are leaked.
                _ = unsafe Unmanaged.passRetained(context)
                throw fault
            }
            // The library has freed its interceptors, and would again. It is leaked: some KiB for each such failure.
            if context.requests == nil || !LibraryVersion.current.leavesInterceptorsFreed {
                unsafe rd_kafka_conf_destroy(configuration)
            }
            throw .invalid(ConfigurationWords.explained(text, properties))
        }
        unsafe self.pointer = pointer
        self.context = context
        unsafe context.tokens?.add(pointer)
    }

    /// The fault of a client that this machine could not start, whatever its properties: it has no threads left, or its
    /// clock was set while the library waited for them.
    static func passing(_ code: Int32, _ text: String) -> KafkaFault? {
        guard code == RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE.rawValue else { return nil }
        let words = "this machine did not start a client of the broker, as where its clock is set meanwhile: \(text)"
        return KafkaFault(code: code, name: KafkaFault.name(of: .init(code)), message: words, isRetriable: true)
    }

    deinit {
        context.leave()
        unsafe context.tokens?.remove(pointer)
        // The only owner; topic handles and queues made from it are gone once `lastCall` has returned.
        unsafe ClientCloser.shared.end(name) { [pointer, context, lastCall] in
            lastCall?()
            // Callbacks may come until it returns.
            withExtendedLifetime(context) { unsafe rd_kafka_destroy(pointer) }
        }
    }

    /// Whether files that this client has read were renewed since.
    var isOutdated: Bool { generation != ClientFiles.generation }

    /// The client's name in the library's log.
    var name: String {
        // The library's own text, copied while the client is there.
        unsafe rd_kafka_name(pointer).map { unsafe String(cString: $0) } ?? ""
    }

    /// The fault that made this client useless, if there is one.
    var fatalFault: KafkaFault? {
        let (code, message) = unsafe libraryText { unsafe rd_kafka_fatal_error(pointer, $0, $1) }
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return KafkaFault(code, message).with(isFatal: true, requiresAbort: false)
    }

    /// Delivers errors and rebalances together with a consumer's messages, from one queue.
    func serveWithMessages() {
        // No pointers but the client's own.
        _ = unsafe rd_kafka_poll_set_consumer(pointer)
        servesWithMessages = true
    }

    /// Serves callbacks, at least the error callback, so that ``explained(_:)`` knows why no answer comes.
    func serve(timeoutMilliseconds: Int32 = 0) {
        guard !servesWithMessages else { return }
        // Callbacks run on this thread, inside this call.
        _ = unsafe rd_kafka_poll(pointer, timeoutMilliseconds)
    }

    /// Does what ``explained(_:)`` does, for a call that may run while another thread polls: that thread owns the
    /// callbacks' notes, so it explains the fault.
    func explainedAside(_ fault: KafkaFault) -> KafkaFault { servesWithMessages ? fault : explained(fault) }

    /// A refused client sees only a timeout: replaces it by the refusal that caused it, if there was one.
    func refused(_ fault: KafkaFault) -> KafkaFault {
        guard fault.isRetriable, let cause = context.observations.connectionFault, cause.isRefusal else { return fault }
        return cause
    }

    /// The same fault of a member or a producer, which has run.
    func running(_ fault: KafkaFault) -> KafkaFault { fault.ofRunning(renewsLogin: context.tokens != nil) }

    /// A fault with its cause: the client's fatal error if it has one, and for a timeout or a broken connection the
    /// last connection error.
    func explained(_ fault: KafkaFault) -> KafkaFault {
        if fault.isFatal, let cause = fatalFault { return cause }
        guard fault.isRetriable, let cause = context.observations.connectionFault ?? context.tokens?.absence else {
            return fault
        }
        return fault.with(message: "\(fault.message); last: \(cause.message)")
    }
}

/// The library's timeouts are 32-bit milliseconds; -1 would wait without end.
func clampedMilliseconds(_ milliseconds: Int) -> Int32 {
    Int32(clamping: max(0, milliseconds))
}

extension KafkaProperties {
    /// Whether clients verify brokers' certificates.
    fileprivate var checksCertificates: Bool {
        let protocolName = (self["security.protocol"] ?? "").lowercased()
        return protocolName.hasSuffix("ssl") && self["enable.ssl.certificate.verification"] != "false"
    }

    fileprivate var hasCertificate: Bool {
        ["ssl.certificate.location", "ssl.certificate.pem", "ssl.keystore.location"].contains { self[$0] != nil }
    }
}

extension ClientHandle {
    /// The committed offsets of the client's group, with their metadata. On any thread.
    ///
    /// With `isolation.level=read_committed` it waits for transactions that have offsets of these partitions pending.
    func committed(
        _ topic: String,
        _ partitions: [Int32],
        timeoutMilliseconds: Int
    ) throws(KafkaFault) -> [CommittedOffset] {
        guard !partitions.isEmpty else { return [] }
        let list = TopicPartitionList(topic: topic, partitions: partitions)
        let timeout = clampedMilliseconds(timeoutMilliseconds)
        // The library fills the list in and does not keep it.
        let code = unsafe list.withPointer { unsafe rd_kafka_committed(pointer, $0, timeout) }
        let action = "reading the committed offsets of \(topic)"
        if code != RD_KAFKA_RESP_ERR_NO_ERROR {
            serve()
            throw explainedAside(KafkaFault(code, doing: action))
        }
        if let fault = list.firstFault(action) { throw fault }
        return list.committed()
    }
}
