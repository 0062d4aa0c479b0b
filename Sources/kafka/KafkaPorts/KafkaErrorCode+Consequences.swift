/// The consequences that follow from a code alone.
extension KafkaErrorCode {
    /// The client is of no further use.
    var isFatal: Bool {
        switch self {
        case .fatal, .fenced, .fencedInstanceId:
            true
        default: false
        }
    }

    /// The group moved on, or bytes did not arrive as they were written: rewind and read again.
    var requiresAbort: Bool {
        switch self {
        case .illegalGeneration, .unknownMemberId, .rebalanceInProgress, .assignmentLost:
            true
        default: isDamage
        }
    }

    /// Bytes did not arrive as they were written.
    var isDamage: Bool {
        switch self {
        case .badMsg, .badCompression, .invalidMsg:
            true
        default: false
        }
    }

    /// The broker refuses the record itself.
    var isOfRecord: Bool {
        switch self {
        case .msgSizeTooLarge, .invalidRecord:
            true
        default: false
        }
    }

    /// The broker knows the client and refuses it.
    var isRefusal: Bool {
        switch self {
        case .topicAuthorizationFailed, .groupAuthorizationFailed, .clusterAuthorizationFailed,
            .transactionalIdAuthorizationFailed, .authentication, .saslAuthenticationFailed:
            true
        default: false
        }
    }

    /// A broker does not know the topic or the partition.
    var isMissingTopic: Bool {
        switch self {
        case .unknownTopicOrPart, .unknownTopic, .unknownPartition:
            true
        default: false
        }
    }

    /// The same call may succeed later.
    var isRetriable: Bool {
        switch self {
        case .transport, .allBrokersDown, .resolve, .timedOut, .timedOutQueue, .msgTimedOut, .waitCoord, .queueFull,
            .prevInProgress, .state, .requestTimedOut, .networkException, .coordinatorLoadInProgress,
            .coordinatorNotAvailable, .notCoordinator, .leaderNotAvailable, .notLeaderForPartition,
            .notEnoughReplicas, .notEnoughReplicasAfterAppend, .concurrentTransactions, .unstableOffsetCommit:
            true
        default: false
        }
    }
}
