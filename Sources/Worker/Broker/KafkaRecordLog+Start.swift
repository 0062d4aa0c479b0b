internal import Kafka
package import Pipeline

extension KafkaRecordLog {
    package var group: [UInt8]? { Array((KafkaProperties(settings.properties)["group.id"] ?? "").utf8) }

    /// See ``PartitionPositions``: what the positions say of a partition whose ledger is restored.
    package func start(_ partition: Int32, mark: PartitionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart {
        guard let found = partitions.found(partition) else {
            throw KafkaFault.stale("partition \(partition) is no longer assigned")
        }
        var report = PartitionStart.Report()
        report.hasCommitted = found.offset != nil && found.isOwn
        if settings.guardsPositions {
            var positions = PartitionPositions(
                partition,
                committed: found.offset,
                isOwn: found.isOwn,
                group: group ?? []
            )
            (positions.mark, positions.ledgerIsEmpty) = (mark, ledgerIsEmpty)
            positions.ends = requestEnds[partition].map { ($0.low, $0.high) }
            positions.groupHasOffsets = groupHasOffsets
            switch positions.decision {
            case .hold(let sentence): return .held(sentence)
            case .start(let offset, let judged):
                // Sought before the next record is handed out, wherever the library believes to stand.
                _ = partitions.begin(partition, at: offset)
                isRewindPending = true
                report = judged
                if judged.isUncommitted, let offset { report.hasCommitted = try commitStart(partition, offset) }
            }
        }
        try consumer.resume([partition])
        started.insert(partition)
        judged.insert(partition)
        return .started(report)
    }

    /// What at-least-once delivery has answered and a crash has left uncommitted. - Returns: true.
    private func commitStart(_ partition: Int32, _ offset: Int64) throws -> Bool {
        let start = PartitionOffset.own([PartitionPosition(partition: partition, offset: offset)])
        try consumer.commit(start, timeoutMilliseconds: Self.startMilliseconds) {
            keepServing()
            return !bell.isRinging
        }
        return true
    }

    private static let startMilliseconds = 2_000

    package func hold(_ partition: Int32) throws {
        partitions.hold(partition)
        started.remove(partition)
        judged.insert(partition)
        try consumer.pause([partition])
    }

}

extension PartitionOffset {
    /// What a worker commits.
    static func own(_ positions: [PartitionPosition]) -> [PartitionOffset] {
        positions.map {
            PartitionOffset(partition: $0.partition, offset: $0.offset, metadata: PartitionPositions.metadata)
        }
    }
}
