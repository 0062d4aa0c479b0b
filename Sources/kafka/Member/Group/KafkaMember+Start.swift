package import KafkaPorts
internal import Pipeline
package import Streams

extension KafkaMember {
    package var group: [UInt8] { Array(settings.group.utf8) }
    /// The identity that the next mark of a partition has.
    package func ledgerIdentity(of partition: Int32) -> [UInt8] {
        ledgers.identity(of: partition, isAtomic: isAtomic, settings.makeIdentity)
    }
    package var transactionalID: [UInt8]? { isAtomic ? Array(settings.stableID.utf8) : nil }

    /// Decides by the positions where a partition starts, once its ledger is whole; see ``PartitionPositions``.
    ///
    /// - Returns: that it has started, or is held; nil = it is being taken over again, or another member's.
    package func ledgerIsWhole(
        _ number: Int32,
        mark: PositionMark?,
        isEmpty: Bool,
        of announcement: Generation,
        at now: Moment
    ) throws(KafkaFault) -> PartitionEvent? {
        guard announcement == self.announcement, let partition = partitions[number],
            case .restoring = partition.state, !isLost
        else { return nil }
        if mark?.partitions == settings.partitions { unmarked.remove(number) } else { unmarked.insert(number) }
        var report = PartitionStart.Report()
        report.hasCommitted = partition.committed != nil && partition.isOwn
        switch decision(partition, mark, isEmpty) {
        case nil: partitions.take(.start, number)
        case .hold(let sentence)?: return hold(number, sentence)
        case .start(let offset, let judged)?:
            report = judged
            if let uncommitted = judged.uncommitted {
                let id = try consumer.commit(.own([PartitionPosition(partition: number, offset: uncommitted)]))
                partitions.take(.commitFirst(id, until: now + Self.startMilliseconds), number)
                report.hasCommitted = true
            } else {
                partitions.take(.start, number)
            }
            partitions.with(number) { $0.begin(at: offset) }
        }
        // The next step seeks it.
        sought = Moment(milliseconds: .min / 2)
        var event: PartitionEvent?
        partitions.with(number) { partition in
            event = partition.report(report)
        }
        return event
    }

    /// Nothing can be judged by what was read of a ledger.
    package func ledgerIsUnusable(
        _ number: Int32,
        _ sentence: String,
        of announcement: Generation
    ) -> PartitionEvent? {
        guard announcement == self.announcement else { return nil }
        switch partitions[number]?.state {
        case .restoring, .held: return hold(number, sentence)
        default: return nil
        }
    }

    /// nil = the group's offset is believed.
    private func decision(
        _ partition: Partition,
        _ mark: PositionMark?,
        _ ledgerIsEmpty: Bool
    ) -> PartitionPositions.Decision? {
        guard settings.guardsPositions else { return nil }
        var positions = PartitionPositions(
            partition.number,
            committed: partition.committed,
            isOwn: partition.isOwn,
            group: group
        )
        (positions.mark, positions.ledgerIsEmpty) = (mark, ledgerIsEmpty)
        positions.ends = partition.requestEnds.map { ($0.low, $0.high) }
        positions.groupHasOffsets = groupHasOffsets
        positions.partitions = settings.partitions
        positions.otherPartitions = marked?.filter { $0 != settings.partitions }.min()
        return positions.decision
    }

    /// How long the answer may take to the commit of what at-least-once delivery answered and a crash left uncommitted:
    /// reading starts after it.
    private static let startMilliseconds: Int64 = 2_000

    /// Keeps a partition without handing out its records, until it is revoked or taken over again.
    private func hold(_ number: Int32, _ sentence: String) -> PartitionEvent? {
        let event = noteHold(number, sentence)
        guard case .restoring = partitions[number]?.state else { return event }
        // First: its records stay back even if the pause fails, as it does for a partition that the library misses.
        partitions.take(.hold, number)
        _ = consumer.pause([number])
        return event
    }

    /// Partitions that are damaged are held already: the loop hears why.
    func held(_ damage: PartitionDamage) -> [PartitionEvent] {
        noteHold(damage.partition, damage.sentence).map { [$0] } ?? []
    }

    private func noteHold(_ number: Int32, _ sentence: String) -> PartitionEvent? {
        partitions.with(number) { $0.hold(sentence) }
    }

    // MARK: Seeks

    /// Seeks what starts and what goes back.
    func seek(at now: Moment) throws {
        guard membership.state == .owning, isSeeking, now - sought >= Self.seekMilliseconds else { return }
        sought = now
        let starting = partitions.those { if case .starting = $0 { true } else { false } }
        let rewinding = partitions.those { if case .rewinding = $0 { true } else { false } }
        var faults = rewinding.isEmpty ? [:] : consumer.seek(rewinding.map(\.start), limit: Self.limitMilliseconds)
        if !starting.isEmpty { faults.merge(start(starting.map(\.start))) { $1 } }
        for number in (starting + rewinding).map(\.number).sorted() {
            partitions.take(faults[number] == nil ? .sought : .notSought(now), number)
        }
        if faults.isEmpty { seeks = SeekBackoff() } else { try rideOut(faults) }
        if isStuck(at: now) { takeOverAgain() }
    }

    /// Reads partitions that were assigned paused. A resume could drop a start that is not queued yet, and a seek proves
    /// none: a late answer about a first offset lets stopped partitions be sought. A resume does not wake the broker's
    /// thread, which may sleep for a second; a second seek does. The lookup of a first offset wakes it too, and must not
    /// run twice: the late answer would set the position back.
    private func start(_ starts: [PartitionOffset]) -> [Int32: SeekFault] {
        // Starts are queued in `assign`, or with the answer to a commit that was open then; a later call comes after.
        if startsAwaitCommit, !consumer.hasOpenCommit { startsAwaitCommit = (try? consumer.assignment()) == nil }
        guard !startsAwaitCommit else {
            return Dictionary(uniqueKeysWithValues: starts.map { ($0.partition, .notStarted) })
        }
        var faults = consumer.seek(starts, limit: Self.limitMilliseconds)
        let ready = starts.filter { faults[$0.partition] == nil }
        guard !ready.isEmpty else { return faults }
        for (number, fault) in consumer.resume(ready.map(\.partition)) { faults[number] = .unknown(fault) }
        let again = ready.filter { $0.offset >= 0 }
        if !again.isEmpty { faults.merge(consumer.seek(again, limit: Self.limitMilliseconds)) { $1 } }
        let asleep = again.filter { $0.offset > 0 && faults[$0.partition] == nil }.map(\.partition)
        if !asleep.isEmpty { consumer.wake(asleep, limit: Self.seekMilliseconds) }
        return faults
    }

    private static let limitMilliseconds = 400

    /// Rides out failed seeks: one that the library has not done yet is asked for again, one that it cannot do may need
    /// an operator.
    private func rideOut(_ faults: [Int32: SeekFault]) throws {
        for (_, fault) in faults.sorted(by: { $0.key < $1.key }) {
            switch fault {
            case .notStarted, .timedOut, .overtaken: break
            case .unknown(let fault): try rideOut(fault)
            }
        }
    }

    /// Whether the library has stopped reading a partition for good.
    private func isStuck(at now: Moment) -> Bool {
        let since = partitions.all.compactMap { partition -> Moment? in
            switch partition.state {
            case .starting(let since), .rewinding(let since): since
            default: nil
            }
        }
        .min()
        guard let since else { return false }
        return seeks.isOver(after: now - since)
    }
}

extension [PartitionOffset] {
    /// The offsets as a worker commits them.
    static func own(_ positions: [PartitionPosition]) -> Self {
        positions.map {
            PartitionOffset(partition: $0.partition, offset: $0.offset, metadata: PartitionPositions.metadata)
        }
    }
}
