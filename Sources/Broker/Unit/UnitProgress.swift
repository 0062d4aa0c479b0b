internal import Kafka
internal import KafkaPorts

/// The time of one unit, and how many of its records were acknowledged in it.
struct UnitProgress {
    var patience: Patience
    /// Records that were to be sent.
    private(set) var appended = 0
    private let acknowledgedBefore: Int

    init(_ patience: Patience, _ deliveries: DeliveryCounts) {
        self.patience = patience
        acknowledgedBefore = deliveries.acknowledged
    }

    mutating func append(_ count: Int) { appended += count }

    /// Adds to a time-out the share of the unit that was acknowledged in time.
    func added(to fault: KafkaFault, _ deliveries: DeliveryCounts) -> KafkaFault {
        guard fault.isTimeout || fault.isExpiry, appended > 0 else { return fault }
        let acknowledged = max(0, deliveries.acknowledged - acknowledgedBefore)
        return fault.afterAcknowledging(min(1, Double(acknowledged) / Double(appended)))
    }
}
