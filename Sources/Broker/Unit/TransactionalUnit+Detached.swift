internal import Dispatch
internal import Kafka
internal import KafkaPorts
internal import Log
internal import Pipeline

/// A unit that is written on the writer's thread.
struct WrittenUnit {
    let positions: [PartitionPosition]
    let place: CommitPlace
    let outcome = Locked<Result<Void, any Error>?>(nil)
}

/// Transactions away from the loop's thread, which polls and verifies the next batches meanwhile.
///
/// The loop hands the unit over with ``start(_:_:of:done:)`` and gets it back with ``finish()``; in between nothing here
/// is touched on its thread. It serves the group itself, and the bell tells the unit when the group waits.
extension TransactionalUnit: DetachedUnit {
    var isDetached: Bool { true }

    var isWriting: Bool { written != nil }

    func start(
        _ records: [[OutboundRecord]],
        _ positions: [PartitionPosition],
        of generation: Generation,
        done: @escaping @Sendable () -> Void
    ) throws {
        precondition(!isWriting, "one unit at a time")
        guard let owner else { throw KafkaFault.fatal("the log is closed") }
        let unit = WrittenUnit(positions: positions, place: try owner.checkCommit(positions, of: generation))
        written = unit
        // Both belong to the writer until the outcome is set; the loop's thread waits for that.
        nonisolated(unsafe) let (writing, member) = (self, unit.place.member)
        let (outcome, topic) = (unit.outcome, unit.place.consumer.topic)
        writer.async {
            // As said above.
            let result = Result { try unsafe writing.write(records, positions, topic: topic, as: member) }
            outcome.withLock { $0 = result }
            done()
        }
    }

    private func write(
        _ records: [[OutboundRecord]],
        _ positions: [PartitionPosition],
        topic: String,
        as member: GroupMetadata
    ) throws {
        try begin()
        for records in records { try append(records) }
        try write(PartitionOffset.own(positions), topic: topic, as: member)
    }

    func finish() throws {
        guard let unit = written, let outcome = unit.outcome.withLock({ $0 }) else {
            preconditionFailure("a unit is finished once it was written")
        }
        written = nil
        guard let owner else { throw KafkaFault.fatal("the log is closed") }
        do {
            try outcome.get()
            try commitAside(PartitionOffset.own(unit.positions), of: unit.place.consumer)
        } catch {
            owner.noteFailedCommit()
            throw error
        }
        owner.noteCommitted(unit.positions)
    }
}
