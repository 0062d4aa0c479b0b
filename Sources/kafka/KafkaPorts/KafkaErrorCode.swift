/// The numbers of librdkafka and of Kafka's protocol that this program knows by name.
///
/// Source: `rd_kafka_resp_err_t` of librdkafka 2.0.2; the tests compare each with the library's.
package enum KafkaErrorCode: Int32, CaseIterable, Sendable {
    // The library's own.
    case badMsg = -199
    case badCompression = -198
    case transport = -195
    case resolve = -193
    case msgTimedOut = -192
    case unknownPartition = -190
    case unknownTopic = -188
    case allBrokersDown = -187
    case invalidArg = -186
    case timedOut = -185
    case queueFull = -184
    case waitCoord = -180
    case prevInProgress = -177
    case state = -172
    case notImplemented = -170
    case authentication = -169
    case timedOutQueue = -166
    case purgeQueue = -152
    case purgeInflight = -151
    case fatal = -150
    case maxPollExceeded = -147
    case fenced = -144
    case assignmentLost = -142
    case autoOffsetReset = -140
    // The broker's.
    case unknown = -1
    case offsetOutOfRange = 1
    case invalidMsg = 2
    case unknownTopicOrPart = 3
    case leaderNotAvailable = 5
    case notLeaderForPartition = 6
    case requestTimedOut = 7
    case msgSizeTooLarge = 10
    case networkException = 13
    case coordinatorLoadInProgress = 14
    case coordinatorNotAvailable = 15
    case notCoordinator = 16
    case notEnoughReplicas = 19
    case notEnoughReplicasAfterAppend = 20
    case illegalGeneration = 22
    case unknownMemberId = 25
    case rebalanceInProgress = 27
    case topicAuthorizationFailed = 29
    case groupAuthorizationFailed = 30
    case clusterAuthorizationFailed = 31
    case invalidProducerEpoch = 47
    case invalidTransactionTimeout = 50
    case concurrentTransactions = 51
    case transactionalIdAuthorizationFailed = 53
    case saslAuthenticationFailed = 58
    case fencedInstanceId = 82
    case invalidRecord = 87
    case unstableOffsetCommit = 88
    case producerFenced = 90

    /// librdkafka's name: `_TIMED_OUT`, `UNKNOWN_MEMBER_ID`. Its own begin with an underscore.
    package var name: String {
        let words = "\(self)".reduce(into: "") { text, letter in
            text += letter.isUppercase ? "_\(letter)" : letter.uppercased()
        }
        return rawValue < Self.unknown.rawValue ? "_\(words)" : words
    }
}
