internal import Pipeline
internal import Streams

/// What may differ from a calm run where the world has taken records away, and what may not.
extension FleetCheck {
    /// Answers and ledger of this partition are compared with none: requests or facts are missing.
    func isLoose(_ partition: Int32) -> Bool {
        let broker = fleet.broker
        return broker.isHarmed(partition) || (broker.hasGrown && fleet.held.contains(partition))
    }

    /// Positions contradict each other where the ledger was cut, or the requests are others; damage stays.
    func mayBeHeld(_ partition: Int32) -> Bool {
        let broker = fleet.broker
        return broker.hasLostMemories(partition) || broker.isDamaged(partition) || broker.hasGrown
    }

    func mayBeUnanswered(_ place: RecordPlace) -> Bool {
        fleet.broker.isGone(place) || (mayBeHeld(place.partition) && fleet.held.contains(place.partition))
    }

    func checked<Value>(_ byPartition: [Int32: Value]) -> [Int32: Value] { byPartition.filter { !isLoose($0.key) } }

    /// Keys of these partitions, by their text.
    func keysOfLoose() -> Set<String> {
        var keys: Set<String> = []
        for reading in [reading, calm] {
            for (partition, outputs) in reading.outputs where isLoose(partition) {
                keys.formUnion(outputs.map(\.keyText))
            }
        }
        return keys
    }

    /// Verdicts that rest on facts which the topic has lost are not committed: a member that does not notice that a
    /// ledger was cut, or reads on in spite of it, writes behind the cut.
    mutating func checkCutLedgers() {
        guard fleet.plan.delivery == .exactlyOnce else { return }
        for partition in fleet.broker.cutLedgers.keys.sorted()
        where !fleet.held.contains(partition) && fleet.broker.isWrittenOn(partition) {
            complaints.append("the ledger of \(partition) was cut, and is written on")
        }
    }

    /// Keys that were placed under one number of partitions are not judged under another. Without transactions a mark of a
    /// process that lost its partitions may arrive late.
    mutating func checkPartitionCounts() {
        guard fleet.plan.delivery == .exactlyOnce else { return }
        let marks = fleet.broker.visible(.ledger).values.joined().filter { $0.key == [4] }
        let counts = marks.compactMap { SimulatedBroker.mark(of: $0)?.position.partitions }
        guard Set(counts).count > 1 else { return }
        complaints.append("marks name several numbers of partitions: \(Set(counts).sorted())")
    }
}

extension SimulatedBroker {
    /// Whether partitions were added.
    var hasGrown: Bool { shownPartitions != partitions.count }

    /// Whether a process may remember more than the topic has.
    func hasLostMemories(_ partition: Int32) -> Bool {
        cutLedgers[partition] != nil || recreatedRequests.contains(partition)
    }
}
