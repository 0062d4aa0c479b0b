internal import Pipeline
package import Streams

/// A careless operator's actions on a stopped group.
package enum OperatorAction: String, CaseIterable, Sendable {
    case offsetsExpired, ledgerEmptied, ledgerTruncated, requestsRemade, requestsTruncated
    case offsetMovedBack, offsetMovedForward, groupRenamed, retentionOvertook

    /// Whether workers continue, and count the requests that they cannot read.
    package var isCounted: Bool { self == .offsetMovedForward || self == .retentionOvertook }
}

extension SimulatedBroker {
    /// - Parameter fresh: the content of the recreated requests topic.
    package func perform(_ action: OperatorAction, on partition: Int32, fresh: [InboundRecord]) {
        let offset = committed[partition, default: 0]
        switch action {
        case .offsetsExpired: setOffset(nil, of: partition)
        case .ledgerEmptied: logs[Topic(.ledger, partition)] = PartitionLog()
        case .ledgerTruncated: logs[Topic(.ledger, partition)]?.cutBehindLast(where: { $0.key != [4] })
        case .requestsRemade:
            setOffset(nil, of: partition)
            remake(partition, fresh)
        case .requestsTruncated: remake(partition, Array((input[partition] ?? []).prefix(1)))
        case .offsetMovedBack: setOffset(offset - 1, of: partition)
        case .offsetMovedForward: setOffset(offset + 1, of: partition)
        case .groupRenamed:
            groupName += " renamed"
            for partition in partitions { setOffset(nil, of: partition) }
        // More comes before the oldest of it goes: see ``retainOnly(_:fromIndex:)``.
        case .retentionOvertook: remake(partition, (input[partition] ?? []).filter { $0.offset >= offset })
        }
    }

    /// A stock tool sets an offset and leaves no text beside it.
    package func setOffset(_ offset: Int64?, of partition: Int32) {
        committed[partition] = offset
        ownOffsets.remove(partition)
    }

    /// What `reset --offsets-only` does.
    package func reset(_ partition: Int32, to offset: Int64) {
        setOffset(offset, of: partition)
        let mark = PartitionMark(appliedOffset: offset, group: Array(groupName.utf8), delivery: .transaction)
        let record = OutboundRecord(.mark(mark), partition: partition)
        logs[Topic(.ledger, partition), default: PartitionLog()].append(record, transaction: nil)
    }

    /// Somebody deletes the topic of ledgers and makes it again.
    package func recreateLedgers() {
        for partition in partitions { logs[Topic(.ledger, partition)] = PartitionLog() }
    }

    /// More requests for each partition, after the existing ones.
    package func add(_ records: [InboundRecord]) {
        for record in records { input[record.partition, default: []].append(record) }
    }

    /// A producer's request with the brokers' time, at the end of its partition; it can be read at once.
    package func append(
        _ key: [UInt8]?,
        _ value: [UInt8],
        _ headers: [RecordHeader],
        to partition: Int32
    ) -> InboundRecord {
        var record = InboundRecord(
            topic: Self.requestsTopic,
            partition: partition,
            offset: end(partition),
            timestamp: time,
            key: key,
            value: value,
            headers: headers
        )
        record.hasLogAppendTime = true
        add([record])
        available[partition] = requestCount(partition)
        return record
    }

    /// Retention takes the oldest requests of a partition.
    package func retainOnly(_ partition: Int32, fromIndex index: Int) {
        remake(partition, Array((input[partition] ?? []).dropFirst(index)))
    }

    package func requestCount(_ partition: Int32) -> Int { input[partition]?.count ?? 0 }

    /// The ledger's last mark; nil = none.
    package func markedOffset(_ partition: Int32) -> Int64? { lastMark(partition)?.position.appliedOffset }

    /// The numbers of partitions that the newest marks name, those of open and of aborted transactions too.
    var markedPartitions: Set<Int32> { Set(partitions.compactMap(markedPartitions)) }

    func markedPartitions(of partition: Int32) -> Int32? { newestMark(partition)?.position.partitions }

    /// The newest mark, that of an open or an aborted transaction too.
    func newestMark(_ partition: Int32) -> PartitionMark? {
        let last = log(.ledger, partition).entries.last { !$0.isRemoved && $0.record?.key == [4] }
        return last.flatMap { Self.mark(of: $0.record) }
    }

    /// All topics get one more partition; no request comes there.
    package func addPartition() { shownPartitions += 1 }

    /// The newest mark that a read_committed reader of a ledger sees.
    func lastMark(_ partition: Int32) -> PartitionMark? {
        Self.mark(of: log(.ledger, partition).visible.last { $0.key == [4] })
    }

    static func mark(of record: OutboundRecord?) -> PartitionMark? {
        guard let record, case .mark(let mark)? = try? LedgerCodec.decode(key: [4], value: record.value) else {
            return nil
        }
        return mark
    }

    private func remake(_ partition: Int32, _ records: [InboundRecord]) {
        input[partition] = records
        available[partition] = records.count
    }

    /// The oldest request, and the offset after the newest that can be read.
    package func requestEnds(_ partition: Int32) -> (low: Int64, high: Int64) {
        let records = (input[partition] ?? []).prefix(available[partition, default: 0])
        let low = records.first?.offset ?? emptyOffset(partition)
        return (low, records.last.map { $0.offset + 1 } ?? low)
    }
}
