internal import Streams

/// What operators, disks and machines do under running workers: at most one kind for each seed.
extension SimulatedFleet {
    func meetWorld() {
        guard let kind = plan.world, !hasMetWorld, chance(isAmidRestore || isBeforeMarks ? 0.1 : 0.01), happens(kind)
        else { return }
        counts.add(kind)
        counts.note("\(broker.now) \(kind.rawValue)")
        // Clocks and machines do it again, and what restores meet comes a few times.
        worldCount += 1
        hasMetWorld = kind != .clockStep && kind != .machineSleep && (!isAmidRestore || worldCount >= 4)
    }

    /// - Returns: false where it cannot happen at the moment.
    private func happens(_ kind: FaultKind) -> Bool {
        switch kind {
        // Forward and back, but not before the requests were written: those would be refused.
        case .clockStep: broker.clockStep = Int64.random(in: 0...600_000, using: &random)
        case .machineSleep: return suspendAll()
        case .partitionsAdded: broker.addPartition()
        case .ledgerRecreated, .ledgerTruncated:
            guard let partition = victim else { return false }
            return broker.cutLedger(partition, isWhole: kind == .ledgerRecreated)
        case .damagedOnDisk:
            guard let partition = broker.partitions.randomElement(using: &random) else { return false }
            return broker.damage(partition)
        case .requestsRecreated, .retentionOvertook:
            guard let partition = victim else { return false }
            return broker.cutRequests(partition, isWhole: kind == .requestsRecreated)
        default: preconditionFailure("\(kind) is not the world's")
        }
        return true
    }

    /// Mostly it happens to a partition that is being restored.
    private var isAmidRestore: Bool {
        guard plan.seed % 4 != 1, let kind = plan.world else { return false }
        return [.ledgerRecreated, .ledgerTruncated, .requestsRecreated, .retentionOvertook].contains(kind)
    }

    /// A fleet's first outputs meet partitions that were added since some of its workers started.
    private var isBeforeMarks: Bool {
        plan.seed % 4 == 1 && plan.world == .partitionsAdded && broker.markedPartitions.isEmpty
    }

    private var victim: Int32? {
        guard isAmidRestore else { return broker.partitions.randomElement(using: &random) }
        return broker.partitions.filter { partition in
            workers.contains {
                let reader = $0.process.reader
                return (plan.world == .retentionOvertook ? reader?.reads(partition) : reader?.begins(partition))
                    ?? false
            }
        }.randomElement(using: &random)
    }

    /// Every process sleeps, and the brokers do not. Without transactions nothing fences one that sleeps in a write.
    private func suspendAll() -> Bool {
        guard plan.delivery == .exactlyOnce || !workers.contains(where: \.process.isWriting) else { return false }
        broker.advance(by: Int64.random(in: 5_000...200_000, using: &random))
        return true
    }
}

extension SimulatedBroker {
    /// - Parameter isWhole: the ledger's topic is recreated, or loses its last mark and what follows.
    fileprivate func cutLedger(_ partition: Int32, isWhole: Bool) -> Bool {
        let before = log(.ledger, partition)
        guard isWhole || before.lastStable == before.highWatermark else { return false }
        perform(isWhole ? .ledgerEmptied : .ledgerTruncated, on: partition, fresh: [])
        let after = log(.ledger, partition)
        let isSure = before.visible.count > after.visible.count || cutLedgers[partition]?.isSure == true
        cutLedgers[partition] = CutLedger(end: after.highWatermark, isSure: isSure)
        return before.highWatermark > after.highWatermark
    }

    /// A request that nobody has read is damaged on every read.
    fileprivate func damage(_ partition: Int32) -> Bool {
        guard let record = requests(partition, from: committed[partition, default: 0]).last else { return false }
        damagedRequests.insert(RecordPlace(partition: partition, offset: record.offset))
        return true
    }

    /// - Parameter isWhole: the requests' topic is recreated, empty; or retention takes what was not read.
    fileprivate func cutRequests(_ partition: Int32, isWhole: Bool) -> Bool {
        guard !isWhole else {
            guard committed[partition] != nil else { return false }
            perform(.requestsRemade, on: partition, fresh: [])
            recreatedRequests.insert(partition)
            return true
        }
        let unread = requests(partition, from: committed[partition, default: 0])
        guard unread.count > 1 else { return false }
        offerAll()
        retainOnly(partition, fromIndex: unread.startIndex + 1 + random.below(unread.count - 1))
        overtaken.insert(partition)
        return true
    }

    /// Whether a request was gone before somebody read it, or may have been.
    func isGone(_ place: RecordPlace) -> Bool {
        recreatedRequests.contains(place.partition)
            || (overtaken.contains(place.partition) && place.offset < (input[place.partition]?.first?.offset ?? .max))
    }

    func isDamaged(_ partition: Int32) -> Bool { damagedRequests.contains { $0.partition == partition } }

    /// A command's records move a ledger's end, even where they are aborted: who knew the end does not see the cut any more.
    func hideCut(_ partition: Int32) {
        guard let cut = cutLedgers[partition] else { return }
        cutLedgers[partition] = CutLedger(end: cut.end, isSure: false)
    }

    /// Whether something was written behind the place where a ledger was cut.
    func isWrittenOn(_ partition: Int32) -> Bool {
        guard let cut = cutLedgers[partition], cut.isSure else { return false }
        let log = log(.ledger, partition)
        return !log.visibleOffsets(from: Int64(cut.end), to: Int64(log.lastStable)).isEmpty
    }
}
