internal import Streams

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
    /// The library connects and joins again by itself: see ``ofRunning(renewsLogin:)``.
    package private(set) var mayHeal = false
    /// The topic that the broker refused, if the library named it separately from the action.
    package private(set) var refusedTopic: String?
    /// The partition that was read, if the fault is one partition's.
    package private(set) var partition: Int32?
    /// Names the place that could not be read, the same one each time it is read. After a damaged batch the library may go
    /// on at a wrong byte: then it is not an offset of the topic.
    package private(set) var offset: Int64?
    /// The share of an output's records, 0 to 1, that the broker had acknowledged when the output's time ran out; nil
    /// for other faults.
    package private(set) var acknowledgedShare: Double?

    /// The consequences are those of the code alone, but for any that is given.
    package init(
        code: Int32,
        name: String,
        message: String,
        isFatal: Bool? = nil,
        isRetriable: Bool? = nil,
        requiresAbort: Bool? = nil
    ) {
        let known = KafkaErrorCode(rawValue: code)
        (self.code, self.name, self.message) = (code, name, message)
        self.isFatal = isFatal ?? known?.isFatal ?? false
        self.isRetriable = isRetriable ?? known?.isRetriable ?? false
        self.requiresAbort = requiresAbort ?? known?.requiresAbort ?? false
    }

    /// The code by name; nil for those that this program has no use for.
    private var known: KafkaErrorCode? { KafkaErrorCode(rawValue: code) }

    private func isOne(of codes: [KafkaErrorCode]) -> Bool { known.map { codes.contains($0) } ?? false }

    package var description: String { "\(message) (\(name))" }

    /// The call ran out of time; its effect may have happened all the same.
    package var isTimeout: Bool { isOne(of: [.timedOut, .requestTimedOut]) }

    /// A record waited for its acknowledgement longer than its transaction may last.
    package var isExpiry: Bool { known == .msgTimedOut }

    /// The broker knows this client and refuses it: trying again changes nothing.
    package var isRefusal: Bool { known?.isRefusal ?? false }

    /// Bytes did not arrive as they were written; the library skips what it cannot read.
    package var isDamage: Bool { known?.isDamage ?? false || isUnknownFormat }

    /// Whether a batch has an unknown format: after one with a wrong checksum librdkafka goes on at a wrong byte, and
    /// takes it for a format's version.
    private var isUnknownFormat: Bool { known == .notImplemented && partition != nil }

    /// The next offset to read is not in the partition: retention deleted it, or the topic was cut.
    package var isOffsetGone: Bool { isOne(of: [.autoOffsetReset, .offsetOutOfRange]) }

    /// A coordinator is being chosen or still reads its topic, as at a first start or after a change of leaders.
    package var isCoordinatorMove: Bool {
        isOne(of: [.notCoordinator, .coordinatorNotAvailable, .coordinatorLoadInProgress])
    }

    /// A topic or partition that a broker does not know, as happens for a while after the broker has started.
    package var isMissingTopic: Bool { known?.isMissingTopic ?? false }

    /// No poll for `max.poll.interval.ms`: the assignment is lost, as the next change says.
    package var isPollGap: Bool { known == .maxPollExceeded }

    /// The broker (or the library before it) refuses the record itself; nothing else is wrong.
    ///
    /// The broker judges batches: if a topic's `max.message.bytes` is below this client's `batch.size`, small records
    /// may be refused together.
    package var isRecordFault: Bool { known?.isOfRecord ?? false }

    /// The topic for which a record is too large; nil if the library's own `message.max.bytes` refuses it.
    package var limitingTopic: String? { known == .msgSizeTooLarge ? refusedTopic : nil }

    /// The producer's queue had no room, and the record stays with the caller.
    package var isQueueFull: Bool { known == .queueFull }

    /// Another member of the group has this member's static name, or seems to.
    package var isFencedMember: Bool { known == .fencedInstanceId }

    /// Another producer with the same transactional id took over, or the broker gave up waiting for this one.
    package var isFenced: Bool { isOne(of: [.fenced, .producerFenced, .invalidProducerEpoch]) }

    /// The broker does not allow transactions as long as this client's setting.
    package var isTransactionTimeout: Bool { known == .invalidTransactionTimeout }

    /// The same fault with consequences set by a caller that knows what a new client would fix.
    package func with(isFatal: Bool, requiresAbort: Bool) -> KafkaFault {
        changed { ($0.isFatal, $0.requiresAbort) = (isFatal, requiresAbort) }
    }

    package func with(message: String) -> KafkaFault { changed { $0.message = message } }

    /// The same fault of a connection, which a client may have that was made too long ago.
    package func suspecting(oldClient: Bool) -> KafkaFault { changed { $0.mayNeedNewClient = oldClient } }

    /// The same fault of a client that has run: a coordinator may be broken for a while, and a login that is refused
    /// between two tokens is accepted with the next one.
    package func ofRunning(renewsLogin: Bool) -> KafkaFault {
        let isOfLogin = isOne(of: [.authentication, .saslAuthenticationFailed])
        return changed { $0.mayHeal = known == .unknown || renewsLogin && isOfLogin }
    }

    /// The same fault of an output that ran out of time.
    package func afterAcknowledging(_ share: Double) -> KafkaFault { changed { $0.acknowledgedShare = share } }

    /// A record was dropped unsent because its transaction had failed.
    package var isPurge: Bool { isOne(of: [.purgeQueue, .purgeInflight]) }

    /// The same fault of a record for this topic.
    package func of(topic: String) -> KafkaFault { changed { $0.refusedTopic = topic } }

    package func refusing(topic: String) -> KafkaFault {
        with(message: "\(message); refused: topic \(topic)").of(topic: topic)
    }

    /// The kind of resource that was refused; nil if none was, or if the client's identity was.
    package var refusedResource: RefusedResource? {
        switch known {
        case .topicAuthorizationFailed: .topic
        case .groupAuthorizationFailed: .group
        case .transactionalIdAuthorizationFailed: .transactionalID
        case .clusterAuthorizationFailed: .cluster
        default: nil
        }
    }

    /// The same fault with the partition where it occurred, and the offset that the library names.
    package func reading(_ partition: Int32, at offset: Int64? = nil) -> KafkaFault {
        changed {
            ($0.partition, $0.offset) = (partition, offset)
            if $0.isUnknownFormat { $0.requiresAbort = true }
        }
    }

    private func changed(_ change: (inout KafkaFault) -> Void) -> KafkaFault {
        var fault = self
        change(&fault)
        return fault
    }

    /// A wrong setting or argument.
    package static func invalid(_ message: String) -> KafkaFault { KafkaFault(.invalidArg, message) }

    package static func timedOut(_ message: String, requiresAbort: Bool = false) -> KafkaFault {
        KafkaFault(.timedOut, message).with(isFatal: false, requiresAbort: requiresAbort)
    }

    /// An output that the partitions' assignment, or the state of the topics, no longer covers.
    package static func stale(_ message: String) -> KafkaFault {
        KafkaFault(.state, message).with(isFatal: false, requiresAbort: true)
    }

    /// See ``isOffsetGone``; records polled before must not be committed.
    package static func offsetGone(_ message: String) -> KafkaFault {
        KafkaFault(.autoOffsetReset, message).with(isFatal: false, requiresAbort: true)
    }

    /// A fault that a retry cannot fix: an operator has to look.
    package static func fatal(_ message: String) -> KafkaFault { KafkaFault(.fatal, message) }
}

/// A resource that a broker controls access to.
package enum RefusedResource: Sendable {
    case topic, group, transactionalID, cluster
}

extension KafkaFault {
    /// A fault of a code that this program knows.
    package init(_ code: KafkaErrorCode, _ message: String) {
        self.init(code: code.rawValue, name: code.name, message: message)
    }

    /// The same call with the same arguments is the next thing to do.
    package var mayBeRepeated: Bool { isRetriable && !isFatal && !requiresAbort }
}

extension KafkaFault: SourceFault {
    /// Whether rewinding and repeating the same records may help; false where an operator has to act.
    package var isRecoverable: Bool {
        !isFatal && (mayHeal || !isRefusal && (requiresAbort || isRetriable || isMissingTopic))
    }

    package var endsLoop: Bool { !isRecoverable }
}
