internal import Kafka
internal import KafkaPorts
internal import Log
internal import Pipeline
internal import Settings

extension LogEvent {
    /// The event of what a loop or a client reports.
    init(_ fault: any LogFault) {
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
        case is BreakerOpen: self.init(.error, .breakerOpen, message)
        case is BreakerClosed: self.init(.info, .breakerClosed, message)
        case let verdict as CrashVerdict:
            self.init(.error, .recordConvicted, message)
            (partition, offset) = (verdict.item.place.partition, verdict.item.place.offset)
        default: self.init(.warning, .brokerFault, message)
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
