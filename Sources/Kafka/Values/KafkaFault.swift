internal import CRdkafka

/// A fault of the broker, the group or a setting: of the world, never a record's verdict.
///
/// librdkafka asks for this order of tests: fatal, then ``requiresAbort``, then ``isRetriable``; any other fault cannot
/// be ridden out either.
package struct KafkaFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// librdkafka's number: negative for its own, positive for the broker's.
    package let code: Int32
    /// librdkafka's name of the code, such as `_TIMED_OUT` or `UNKNOWN_MEMBER_ID`.
    package let name: String
    /// One line: the action and its outcome.
    package private(set) var message: String
    /// The client (or its purpose) is of no further use.
    package private(set) var isFatal: Bool
    /// The same call with the same arguments may succeed later.
    package let isRetriable: Bool
    /// Records written since the last commit must not be committed: abort, then rewind.
    package private(set) var requiresAbort: Bool
    /// A client that is made now reads passwords and certificates that may be newer, and may be let in.
    package private(set) var mayNeedNewClient = false
    /// The topic that the broker refused, if the library named it separately from the action.
    package private(set) var refusedTopic: String?
    /// The partition that was read, if the fault is one partition's.
    package private(set) var partition: Int32?
    /// If a unit of work ran out of time: the share of its records that the broker had acknowledged, 0 to 1.
    package private(set) var acknowledgedShare: Double?

    package init(
        code: Int32,
        name: String,
        message: String,
        isFatal: Bool = false,
        isRetriable: Bool = false,
        requiresAbort: Bool = false
    ) {
        self.code = code
        self.name = name
        self.message = message
        self.isFatal = isFatal
        self.isRetriable = isRetriable
        self.requiresAbort = requiresAbort
    }

    package var description: String { "\(message) (\(name))" }

    /// The call ran out of time; its effect may have happened all the same.
    package var isTimeout: Bool {
        code == RD_KAFKA_RESP_ERR__TIMED_OUT.rawValue || code == RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT.rawValue
    }

    /// A record waited for its acknowledgement longer than its transaction may last.
    package var isExpiry: Bool { code == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT.rawValue }

    /// The broker knows this client and refuses it: trying again changes nothing.
    package var isRefusal: Bool { Self.refusals.contains(code) }

    /// Bytes did not arrive as they were written; the library skips what it cannot read.
    package var isDamage: Bool { Self.damages.contains(code) || isUnknownFormat }

    /// Behind a batch with a wrong checksum librdkafka goes on at a wrong byte, and takes it for a format's version.
    private var isUnknownFormat: Bool {
        code == RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED.rawValue && partition != nil
    }

    /// The next offset to read is no offset of the partition: retention deleted it, or the topic was cut.
    package var isOffsetGone: Bool {
        code == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET.rawValue || code == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE.rawValue
    }

    /// A coordinator is being chosen or still reads its topic, as at a first start or after a change of leaders.
    package var isCoordinatorMove: Bool {
        code == RD_KAFKA_RESP_ERR_NOT_COORDINATOR.rawValue
            || code == RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE.rawValue
            || code == RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS.rawValue
    }

    /// A topic or partition that a broker does not know, as happens for a while after the broker has started.
    package var isMissingTopic: Bool { Self.missing.contains(code) }

    /// No poll for `max.poll.interval.ms`: the assignment is lost, as the next change says.
    package var isPollGap: Bool { code == RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED.rawValue }

    /// The broker (or the library before it) refuses the record itself; nothing else is wrong.
    ///
    /// The broker judges batches: if a topic's `max.message.bytes` is below this client's `batch.size`, small records
    /// may be refused together.
    package var isRecordFault: Bool { Self.ofRecords.contains(code) }

    /// The producer's queue had no room, and the record stays with the caller.
    package var isQueueFull: Bool { code == RD_KAFKA_RESP_ERR__QUEUE_FULL.rawValue }

    /// Another member of the group has this member's static name, or seems to.
    package var isFencedMember: Bool { code == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID.rawValue }

    /// Another producer with the same transactional id took over, or the broker gave up waiting for this one.
    package var isFenced: Bool {
        code == RD_KAFKA_RESP_ERR__FENCED.rawValue || code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED.rawValue
            || code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH.rawValue
    }

    /// The broker does not allow transactions as long as this client's setting.
    package var isTransactionTimeout: Bool { code == RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT.rawValue }

    /// The same fault with consequences set by a caller that knows what a new client would fix.
    package func judged(isFatal: Bool, requiresAbort: Bool) -> KafkaFault {
        var fault = self
        (fault.isFatal, fault.requiresAbort) = (isFatal, requiresAbort)
        return fault
    }

    /// The same fault with another message.
    package func saying(_ message: String) -> KafkaFault {
        var fault = self
        fault.message = message
        return fault
    }

    /// The same fault of a connection, which a client may have that was made too long ago.
    package func suspecting(oldClient: Bool) -> KafkaFault {
        var fault = self
        fault.mayNeedNewClient = oldClient
        return fault
    }

    /// The same fault of a unit of work that ran out of time.
    package func afterAcknowledging(_ share: Double) -> KafkaFault {
        var fault = self
        fault.acknowledgedShare = share
        return fault
    }

    /// A record was dropped unsent because its transaction had failed.
    var isPurge: Bool {
        code == RD_KAFKA_RESP_ERR__PURGE_QUEUE.rawValue || code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT.rawValue
    }

    /// The same fault with the refused topic.
    package func refusing(topic: String) -> KafkaFault {
        var fault = saying("\(message); refused: topic \(topic)")
        fault.refusedTopic = topic
        return fault
    }

    /// The kind of resource that was refused; nil if none was, or if the client's identity was.
    package var refusedResource: RefusedResource? {
        switch code {
        case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED.rawValue: .topic
        case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED.rawValue: .group
        case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED.rawValue: .transactionalID
        case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED.rawValue: .cluster
        default: nil
        }
    }

    /// The same fault with the partition where it occurred.
    func reading(_ partition: Int32) -> KafkaFault {
        var fault = self
        fault.partition = partition
        if fault.isUnknownFormat { fault.requiresAbort = true }
        return fault
    }

    /// A wrong setting or argument.
    package static func invalid(_ message: String) -> KafkaFault {
        KafkaFault(RD_KAFKA_RESP_ERR__INVALID_ARG, message)
    }

    /// A call that ran out of time.
    package static func timedOut(_ message: String, requiresAbort: Bool = false) -> KafkaFault {
        KafkaFault(RD_KAFKA_RESP_ERR__TIMED_OUT, message).judged(isFatal: false, requiresAbort: requiresAbort)
    }

    /// A unit of work that the partitions' assignment, or the state of the log, no longer covers.
    package static func stale(_ message: String) -> KafkaFault {
        KafkaFault(RD_KAFKA_RESP_ERR__STATE, message).judged(isFatal: false, requiresAbort: true)
    }

    /// See ``isOffsetGone``; records polled before must not be committed.
    package static func offsetGone(_ message: String) -> KafkaFault {
        KafkaFault(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, message).judged(isFatal: false, requiresAbort: true)
    }

    /// A fault that a retry cannot fix: an operator has to look.
    package static func fatal(_ message: String) -> KafkaFault {
        KafkaFault(RD_KAFKA_RESP_ERR__FATAL, message)
    }
}

/// A resource that a broker controls access to.
package enum RefusedResource: Sendable {
    case topic, group, transactionalID, cluster
}

extension KafkaFault {
    /// A fault from a bare code: its consequences are looked up in the tables below.
    init(_ code: rd_kafka_resp_err_t, _ message: String) {
        self.init(
            code: code.rawValue,
            name: Self.name(of: code),
            message: message,
            isFatal: Self.fatal.contains(code.rawValue),
            isRetriable: Self.retriable.contains(code.rawValue),
            requiresAbort: Self.aborting.contains(code.rawValue)
        )
    }

    /// A fault from a code, naming the action.
    init(_ code: rd_kafka_resp_err_t, doing action: String) {
        self.init(code, "\(action): \(Self.text(of: code))")
    }

    /// Takes over an error object of the library and frees it.
    init(takingOwnershipOf error: OpaquePointer, doing action: String) {
        // The library made the object for us: it is valid until the destroy below, and so are its strings.
        let code = unsafe rd_kafka_error_code(error)
        let text = unsafe String(cString: rd_kafka_error_string(error))
        self.init(
            code: code.rawValue,
            name: Self.name(of: code),
            message: "\(action): \(text)",
            isFatal: unsafe rd_kafka_error_is_fatal(error) != 0 || Self.fatal.contains(code.rawValue),
            isRetriable: unsafe rd_kafka_error_is_retriable(error) != 0 || Self.retriable.contains(code.rawValue),
            requiresAbort: unsafe rd_kafka_error_txn_requires_abort(error) != 0 || Self.aborting.contains(code.rawValue)
        )
        unsafe rd_kafka_error_destroy(error)
    }

    /// Takes over an error object of a transactional call and frees it. Its own three flags count, and no table: the
    /// library knows whether the transaction can go on.
    init(takingOwnershipOfTransactional error: OpaquePointer, doing action: String) {
        // As above: valid until the destroy below.
        let code = unsafe rd_kafka_error_code(error)
        let text = unsafe String(cString: rd_kafka_error_string(error))
        self.init(
            code: code.rawValue,
            name: Self.name(of: code),
            message: "\(action): \(text)",
            isFatal: unsafe rd_kafka_error_is_fatal(error) != 0,
            isRetriable: unsafe rd_kafka_error_is_retriable(error) != 0,
            requiresAbort: unsafe rd_kafka_error_txn_requires_abort(error) != 0
        )
        unsafe rd_kafka_error_destroy(error)
    }

    /// Throws unless the library reports success.
    static func check(_ code: rd_kafka_resp_err_t, _ action: @autoclosure () -> String) throws(KafkaFault) {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaFault(code, doing: action()) }
    }

    static func name(of code: rd_kafka_resp_err_t) -> String {
        // The library returns static strings.
        unsafe String(cString: rd_kafka_err2name(code))
    }

    static func text(of code: rd_kafka_resp_err_t) -> String {
        // The library returns static strings.
        unsafe String(cString: rd_kafka_err2str(code))
    }

    private static let fatal: Set<Int32> = [
        RD_KAFKA_RESP_ERR__FATAL.rawValue, RD_KAFKA_RESP_ERR__FENCED.rawValue,
        RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID.rawValue,
    ]

    /// The group moved on, or bytes did not arrive as they were written: rewind and read again.
    private static let aborting = Set<Int32>([
        RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION.rawValue, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID.rawValue,
        RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS.rawValue, RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST.rawValue,
    ])
    .union(damages)

    private static let damages: Set<Int32> = [
        RD_KAFKA_RESP_ERR__BAD_MSG.rawValue, RD_KAFKA_RESP_ERR__BAD_COMPRESSION.rawValue,
        RD_KAFKA_RESP_ERR_INVALID_MSG.rawValue,
    ]

    private static let ofRecords: Set<Int32> = [
        RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE.rawValue, RD_KAFKA_RESP_ERR_INVALID_RECORD.rawValue,
    ]

    private static let refusals: Set<Int32> = [
        RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED.rawValue, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED.rawValue,
        RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED.rawValue,
        RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED.rawValue, RD_KAFKA_RESP_ERR__AUTHENTICATION.rawValue,
        RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED.rawValue,
    ]

    private static let missing: Set<Int32> = [
        RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART.rawValue, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC.rawValue,
        RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION.rawValue,
    ]

    private static let retriable: Set<Int32> = [
        RD_KAFKA_RESP_ERR__TRANSPORT.rawValue, RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN.rawValue,
        RD_KAFKA_RESP_ERR__RESOLVE.rawValue, RD_KAFKA_RESP_ERR__TIMED_OUT.rawValue,
        RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE.rawValue, RD_KAFKA_RESP_ERR__MSG_TIMED_OUT.rawValue,
        RD_KAFKA_RESP_ERR__WAIT_COORD.rawValue, RD_KAFKA_RESP_ERR__QUEUE_FULL.rawValue,
        RD_KAFKA_RESP_ERR__PREV_IN_PROGRESS.rawValue, RD_KAFKA_RESP_ERR__STATE.rawValue,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT.rawValue, RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION.rawValue,
        RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS.rawValue,
        RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE.rawValue, RD_KAFKA_RESP_ERR_NOT_COORDINATOR.rawValue,
        RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE.rawValue, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION.rawValue,
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS.rawValue,
        RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND.rawValue,
        RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS.rawValue, RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT.rawValue,
    ]
}
