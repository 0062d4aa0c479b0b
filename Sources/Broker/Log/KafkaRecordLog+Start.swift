internal import Kafka
internal import KafkaPorts
package import Log
internal import Pipeline

/// What the loop has decided on a partition; records of started ones only are handed out.
enum Decision {
    /// The next poll starts to read it.
    case starting
    case started
    case held
}

extension KafkaRecordLog {
    package var group: [UInt8]? { Array((settings.group ?? "").utf8) }

    /// Decides by the positions where a partition starts once its ledger is restored; see ``PartitionPositions``.
    package func start(_ partition: Int32, mark: PositionMark?, ledgerIsEmpty: Bool) throws -> PartitionStart {
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
                _ = partitions.begin(partition, at: offset)
                report = judged
                if judged.isUncommitted, let offset { report.hasCommitted = try commitStart(partition, offset) }
            }
        }
        decisions[partition] = .starting
        isRewindPending = true
        return .started(report)
    }

    /// Commits what at-least-once delivery answered and a crash left uncommitted. - Returns: true.
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
        // First: its records stay back even if the pause fails, as it does for a partition that the library misses.
        decisions[partition] = .held
        do throws(KafkaFault) { try consumer.pause([partition]) } catch {
            // The abort reads again what the caller has polled.
            throw error.judged(isFatal: error.isFatal, requiresAbort: true)
        }
    }
}

extension PartitionOffset {
    /// The offsets as a worker commits them.
    static func own(_ positions: [PartitionPosition]) -> [PartitionOffset] {
        positions.map {
            PartitionOffset(partition: $0.partition, offset: $0.offset, metadata: PartitionPositions.metadata)
        }
    }
}
