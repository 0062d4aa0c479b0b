/// The consequences that follow from a code alone.
extension KafkaErrorCode {
    /// The client is of no further use.
    var isFatal: Bool { [.fatal, .fenced, .fencedInstanceId].contains(self) }

    /// The group moved on, or bytes did not arrive as they were written: rewind and read again.
    var requiresAbort: Bool {
        [.illegalGeneration, .unknownMemberId, .rebalanceInProgress, .assignmentLost].contains(self) || isDamage
    }

    /// Bytes did not arrive as they were written.
    var isDamage: Bool { [.badMsg, .badCompression, .invalidMsg].contains(self) }

    /// The broker refuses the record itself.
    var isOfRecord: Bool { [.msgSizeTooLarge, .invalidRecord].contains(self) }

    /// The broker knows the client and refuses it.
    var isRefusal: Bool {
        [
            .topicAuthorizationFailed, .groupAuthorizationFailed, .clusterAuthorizationFailed,
            .transactionalIdAuthorizationFailed, .authentication, .saslAuthenticationFailed,
        ].contains(self)
    }

    /// A broker does not know the topic or the partition.
    var isMissingTopic: Bool { [.unknownTopicOrPart, .unknownTopic, .unknownPartition].contains(self) }

    /// The same call may succeed later.
    var isRetriable: Bool {
        [
            .transport, .allBrokersDown, .resolve, .timedOut, .timedOutQueue, .msgTimedOut, .waitCoord, .queueFull,
            .prevInProgress, .state, .requestTimedOut, .networkException, .coordinatorLoadInProgress,
            .coordinatorNotAvailable, .notCoordinator, .leaderNotAvailable, .notLeaderForPartition,
            .notEnoughReplicas, .notEnoughReplicasAfterAppend, .concurrentTransactions, .unstableOffsetCommit,
        ].contains(self)
    }
}
