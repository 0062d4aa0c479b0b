package import Kafka
package import KafkaPorts
internal import Pipeline
internal import Settings
package import Streams

extension LogEvent {
    /// The event of what a loop or a client reports.
    package init(_ fault: any SourceFault) {
        let message = String(describing: fault)
        switch fault {
        case let fault as KafkaFault:
            let isOrdinary = fault.isCoordinatorMove && !fault.requiresAbort
            self.init(isOrdinary ? .info : .warning, fault.requiresAbort ? .commitAborted : .brokerFault, message)
            (partition, code) = (fault.partition, fault.name)
        case let notice as PartitionNotice:
            self.init(.warning, notice.isHeld ? .partitionHeld : .partitionNoted, message)
            partition = notice.partition
        case let notice as AssignmentNotice: self.init(.info, Name(notice.kind), message)
        case is ClockDoubt: self.init(.error, .clockDoubted, message)
        case is ClockAgreement: self.init(.info, .clockAgreed, message)
        case is TopicLimitFault: self.init(.error, .topicsUnfit, message)
        case is BreakerOpen: self.init(.error, .breakerOpen, message)
        case is BreakerClosed: self.init(.info, .breakerClosed, message)
        case let act as OperatorAct:
            self.init(.info, .audit, message)
            (partition, offset) = (act.partition, act.offset)
        case let verdict as CrashVerdict:
            self.init(.error, .recordConvicted, message)
            (partition, offset) = (verdict.item.place.partition, verdict.item.place.offset)
        default: self.init(.warning, .brokerFault, message)
        }
    }

    /// librdkafka's words for lines about connections, sessions and transactional ids, which our programs tell in their own.
    package static let ofConnections: Set<String> = ["FAIL", "GETPID", "SESSTMOUT"]

    /// A line of librdkafka's.
    ///
    /// - Parameter quiet: words for lines that are for debugging only.
    package init(_ line: ClientLog.Line, quiet: Set<String> = []) {
        let severity = quiet.contains(line.facility) ? 7 : line.severity
        let level: LogLevel =
            switch severity {
            case ...3: .error
            case 4: .warning
            case 5, 6: .info
            default: .debug
            }
        let speaker = line.client.isEmpty ? "" : "librdkafka, \(line.client): "
        self.init(level, .clientLine, speaker + line.text)
        code = line.facility
    }
}

extension LogEvent {
    /// The event of what happened to a copy of a ledger.
    package init(_ notice: SnapshotNotice) {
        switch notice {
        case .notWritten(let partition, let cause):
            self.init(.warning, .snapshotFailed, "the copy of ledger \(partition) was not written: \(cause)")
            self.partition = partition
        case .notUsed(let partition, let cause):
            let message = "ledger \(partition) is restored from the topic, not from its copy: \(cause)"
            self.init(.warning, .snapshotIgnored, message)
            self.partition = partition
        }
    }
}

extension LogEvent.Name {
    fileprivate init(_ kind: Rebalance) {
        switch kind {
        case .assigned: self = .partitionsAssigned
        case .revoked: self = .partitionsRevoked
        case .lost: self = .partitionsLost
        }
    }
}
