package import Settings

/// One line of a worker's log.
package struct LogEvent: Sendable, Equatable {
    /// The events' names, as tools match them.
    package enum Name: String, Sendable, CaseIterable {
        case starting
        case stopping
        case stopped
        case heartbeat
        case audit
        case brokerWaiting = "broker.waiting"
        case brokerLost = "broker.lost"
        case brokerBack = "broker.back"
        case brokerFault = "broker.fault"
        case clientLine = "broker.client"
        case partitionsAssigned = "partitions.assigned"
        case partitionsRevoked = "partitions.revoked"
        case partitionsLost = "partitions.lost"
        case partitionsUnread = "partitions.unread"
        case partitionsRead = "partitions.read"
        case partitionHeld = "partition.held"
        case partitionNoted = "partition.noted"
        case partitionUnstable = "partition.unstable"
        case partitionStable = "partition.stable"
        case ledgerRestoring = "ledger.restoring"
        case ledgerRestored = "ledger.restored"
        case ledgerStalled = "ledger.stalled"
        case commitAborted = "commit.aborted"
        case configurationReloaded = "configuration.reloaded"
        case configurationRefused = "configuration.refused"
        case configurationDoubtful = "configuration.doubtful"
        case topicsUnfit = "topics.unfit"
        case keyYoung = "key.young"
        case keyMissing = "key.missing"
        case keyAway = "key.away"
        case keyBack = "key.back"
        case breakerOpen = "breaker.open"
        case breakerClosed = "breaker.closed"
        case clockDoubted = "clock.doubted"
        case clockAgreed = "clock.agreed"
        case brokerClock = "broker.clock"
        case engineDisagrees = "engine.disagrees"
        case recordConvicted = "record.convicted"
        case crashFound = "crash.found"
        case snapshotFailed = "snapshot.failed"
        case snapshotIgnored = "snapshot.ignored"
        case laneHung = "lane.hung"
        case tokensFull = "tokens.full"
        case gatewayNotReady = "gateway.not-ready"
        case gatewayReady = "gateway.ready"
        case gatewayUnanswered = "gateway.unanswered"
        case gatewayContradicted = "gateway.contradicted"
        case gatewayUnknownApp = "gateway.unknown-app"
        case gatewayUnknownKey = "gateway.unknown-key"
        case riskBreakerOpen = "risk.breaker-open"
        case riskBreakerClosed = "risk.breaker-closed"
        case riskRateLowered = "risk.rate-lowered"
        case riskRateRestored = "risk.rate-restored"
        case riskClock = "risk.clock"
        case riskAnswer = "risk.answer"
        case riskRecord = "risk.record"
        case riskOffsets = "risk.offsets"
        case metricsUnserved = "metrics.unserved"
        case linesDropped = "log.dropped"
    }

    /// A number beside the message: a member of the JSON form, which the text's message tells in words.
    package struct Count: Sendable, Equatable {
        let name: String
        let value: Int

        package init(_ name: String, _ value: Int) { (self.name, self.value) = (name, value) }
    }

    package var level: LogLevel
    package var name: Name
    /// One line.
    package var message: String
    var partition: Int32?
    var offset: Int64?
    /// librdkafka's name of an error.
    var code: String?
    var counts: [Count] = []

    package init(_ level: LogLevel, _ name: Name, _ message: String, counts: [Count] = []) {
        (self.level, self.name, self.message, self.counts) = (level, name, message, counts)
    }

    /// Whether it tells of a fault: `/status` shows the last one.
    var isFault: Bool {
        switch name {
        case .brokerWaiting, .brokerLost, .brokerFault, .commitAborted, .partitionsUnread, .partitionHeld,
            .partitionUnstable, .ledgerStalled, .configurationRefused, .keyMissing, .breakerOpen, .clockDoubted,
            .engineDisagrees, .recordConvicted, .laneHung, .topicsUnfit:
            level > .info
        default: false
        }
    }

    /// The text by which two lines are the same: librdkafka's carry times and numbers of clients that change.
    var pattern: String {
        let text = name == .clientLine ? String(message.filter { !$0.isNumber }) : message
        return "\(name.rawValue) \(partition.map(String.init) ?? "") \(text)"
    }

    /// Whether the same line within minutes says nothing new. Others tell of changes, and each counts.
    var isRepeatable: Bool {
        switch name {
        case .clientLine: code != "TOKEN"
        case .brokerFault, .commitAborted, .clockDoubted, .partitionNoted,
            .partitionHeld, .engineDisagrees, .configurationDoubtful, .keyYoung, .tokensFull,
            .gatewayContradicted, .gatewayUnanswered, .topicsUnfit:
            true
        default: false
        }
    }
}
