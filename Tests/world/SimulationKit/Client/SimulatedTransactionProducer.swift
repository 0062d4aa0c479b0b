internal import DeviceLab
internal import KafkaPorts
internal import Pipeline
internal import Streams

/// A transactional producer: the library's calls as they are. It refuses little of what must not be done, and says little of
/// what has gone wrong.
final class SimulatedTransactionProducer: SimulatedProducer, TransactionProducer {
    private enum State { case made, ready, open }

    private var state = State.made
    private var ownEpoch: Int?
    /// The library has seen a fault after which it commits nothing of this transaction.
    private var abortable: KafkaFault?
    /// Requests whose first copy was never answered, though the library's second one was.
    private var repeated = UnansweredRequests()
    /// AddPartitionsToTxn is under way; no record is sent before its answer.
    private var isAdding = false
    private var hasAdded = false
    /// A call for offsets has ended without a final answer: the library may still be trying.
    private var openOffsets = false
    private var hasUnsent = false
    /// A record was not taken, and nobody has tried to settle or abort the transaction since.
    private var mayBeAborted = false
    /// The broker has skipped sequence numbers of a refused batch: the next transaction fails, too.
    private var hasSkippedNumbers = false

    override var epoch: Int? { ownEpoch }

    var unanswered: UnansweredRequests {
        if broker.wrong == .repeatsAreHidden { return UnansweredRequests() }
        var sum = repeated
        sum.additions += (isAdding ? 1 : 0) + (openOffsets ? 1 : 0)
        return sum
    }

    private func fatal(_ kind: FaultKind, _ fault: KafkaFault) -> KafkaFault {
        broker.counts.add(kind)
        // A process rides out what its heirs do.
        let isHeir = kind == .fencedProducer && broker.fencedByHeirs.remove(name) != nil
        if !isHeir, kind == .fencedProducer || kind == .fatal { process.mayEnd = true }
        fatalFault = fault.with(isFatal: true, requiresAbort: false)
        return fatalFault ?? fault
    }

    private func fenced() -> KafkaFault {
        fatal(.fencedProducer, KafkaFault(.fenced, "another producer has the transactional id \(name)"))
    }

    /// A retriable fault of a call that had no effect.
    private func strike() throws(KafkaFault) {
        if process.strikes(.fatal, process.chances.fatal) {
            throw fatal(.fatal, KafkaFault(.fatal, "the producer has failed"))
        }
        if process.strikes(.retriable, process.chances.retriable) {
            throw KafkaFault(.coordinatorLoadInProgress, "the coordinator reads its topic")
        }
    }

    // MARK: taking over

    func initTransactions(limit milliseconds: Int) throws(KafkaFault) {
        try enters()
        try strike()
        let timeout = KafkaFault.timedOut("the transactional id \(name) is not taken over yet")
        if process.strikes(.initUnanswered, process.chances.client.initUnanswered) {
            repeated.inits += 1
            // The request is under way, and fences whichever producer has the id when it arrives.
            if process.random.below(2) == 0 {
                broker.arriveLater(after: 1 + Int64(process.random.below(5_000))) { [broker, name] in
                    broker.counts.add(.initArrivedLate)
                    _ = broker.initProducer(name)
                }
            }
            throw timeout
        }
        if broker.isEnding(name), process.chances.retriable > 0, process.chance(0.3) {
            broker.counts.add(.concurrentTransactions)
            throw timeout
        }
        ownEpoch = broker.initProducer(name)
        state = .ready
    }

    func begin() throws(KafkaFault) {
        if fatalFault != nil { process.violate("begins after a fatal fault: the call hangs") }
        try enters()
        guard state == .ready else { throw KafkaFault(.state, "no transaction can begin") }
        (state, abortable, hasAdded, isAdding, openOffsets) = (.open, nil, false, false, false)
    }

    override func produce(_ records: ArraySlice<OutboundRecord>) throws(KafkaFault) -> Int {
        guard state == .open || fatalFault != nil else { throw KafkaFault(.state, "no transaction is open") }
        do throws(KafkaFault) { return try super.produce(records) } catch {
            mayBeAborted = true
            throw error
        }
    }

    override func flush(limit milliseconds: Int) throws(KafkaFault) -> Bool {
        mayBeAborted = false
        return try super.flush(limit: milliseconds)
    }

    override func discard() {
        // Records that the library gave up may still be on their way, and an abort would overtake them.
        if state == .open, mayBeAborted, !hasUnsent, fatalFault == nil, !process.isDead {
            process.violate("gives up a producer that it could have aborted")
        }
        super.discard()
    }

    // MARK: deliveries

    override func mayDeliver() -> Bool {
        guard !queue.isEmpty, !isStillAdding() else { return false }
        if broker.isEnding(name) {
            if process.chances.retriable > 0, process.chance(0.3) {
                broker.counts.add(.concurrentTransactions)
                isAdding = true
                return false
            }
            broker.finishMarkers(of: name)
        }
        if !hasAdded {
            hasAdded = true
            repeatHidden(.addition)
            if process.chances.retriable > 0, process.chance(0.05) {
                isAdding = true
                return false
            }
        }
        if process.strikes(.abortable, process.chances.abortable * 0.3) { return expire() }
        guard hasSkippedNumbers else { return true }
        hasSkippedNumbers = false
        broker.counts.add(.abortable)
        fail(
            queue.count,
            KafkaFault(.msgTimedOut, "a batch before these was refused").with(isFatal: false, requiresAbort: true)
        )
        queue = []
        return false
    }

    /// Records that the library gave up by itself: they may be on their way, and an abort may overtake them.
    private func expire() -> Bool {
        fail(queue.count, KafkaFault(.msgTimedOut, "records have waited for too long"))
        deliveries.unsent += queue.count
        (queue, hasUnsent) = ([], true)
        return false
    }

    private func isStillAdding() -> Bool {
        if isAdding, process.chance(0.5) { isAdding = false }
        return isAdding
    }

    override func refused(_ refusal: BrokerRefusal) {
        super.refused(refusal)
        if refusal == .refusedRecord, process.chances.retriable > 0, process.chance(0.3) { hasSkippedNumbers = true }
    }

    /// A failed delivery makes the transaction abortable in the library's eyes.
    override func fail(_ count: Int, _ fault: KafkaFault) {
        super.fail(count, fault)
        if fatalFault == nil { abortable = abortable ?? fault.with(isFatal: false, requiresAbort: true) }
    }

    override func serve(limit milliseconds: Int) {
        mayBeAborted = false
        super.serve(limit: milliseconds)
        guard !process.isDead else { return }
        _ = isStillAdding()
        if openOffsets, process.chance(0.5) { openOffsets = false }
    }

    /// Its transaction is aborted by the next owner of the id, at the latest.
    override func arriveLate(_ records: [OutboundRecord]) {
        broker.arriveLater(after: 1 + Int64(process.random.below(3_000))) { [broker, name, ownEpoch] in
            for record in records { try? broker.produce(name, epoch: ownEpoch ?? 0, record) }
        }
    }

    // MARK: the end

    func sendOffsets(
        _ offsets: [PartitionOffset],
        _ token: any MemberToken,
        _ budget: CallBudget
    ) throws(KafkaFault) {
        try enters()
        guard state == .open else { throw KafkaFault(.state, "no transaction is open") }
        guard !offsets.isEmpty else { return }
        guard let token = token as? SimulatedToken else { throw .invalid("a token of another library") }
        check(offsets, token)
        openOffsets = false
        if let abortable { throw abortable }
        // Behind the records on the same connection; without any the library waits for the last transaction's markers here.
        if !queue.isEmpty { deliver(most: queue.count) }
        if queue.isEmpty, !hasAdded, broker.producers[name]?.epoch == ownEpoch { broker.finishMarkers(of: name) }
        if !queue.isEmpty { process.violate("sends offsets behind records that have not arrived") }
        let positions = offsets.map { PartitionPosition(partition: $0.partition, offset: $0.offset) }
        let texts = Dictionary(uniqueKeysWithValues: offsets.map { ($0.partition, $0.metadata) })
        if !queue.isEmpty || process.strikes(.offsetsUnanswered, process.chances.client.offsetsUnanswered) {
            throw givenUp(positions, token.stamp, texts)
        }
        do throws(KafkaFault) { try strike() } catch {
            openOffsets = error.isRetriable && process.chance(0.5)
            throw error
        }
        if process.strikes(.abortable, process.chances.abortable) {
            throw spoiled(KafkaFault(.rebalanceInProgress, "the group rebalances"))
        }
        let foreign = Set(offsets.filter { $0.metadata != PartitionPositions.metadata }.map(\.partition))
        do throws(BrokerRefusal) {
            try broker.addOffsets(
                name,
                epoch: ownEpoch ?? 0,
                positions,
                token.stamp,
                foreign: foreign,
                metadata: texts
            )
        } catch {
            throw refusedOffsets(error)
        }
        if process.random.below(2) == 0 {
            repeatHidden(.offsets(positions, token.stamp, texts))
        } else {
            repeatHidden(.addition)
        }
    }

    /// No batch is committed under another membership than the one that polled it, or after its loss was known.
    private func check(_ offsets: [PartitionOffset], _ token: SimulatedToken) {
        if token.isKnownLost { process.violate("sends offsets of an assignment that is lost") }
        for offset in offsets {
            guard let stamp = process.polledStamp(offset.partition, before: offset.offset), stamp != token.stamp else {
                continue
            }
            process.violate("sends offsets under another membership than polled them")
        }
    }

    /// The call never returned; its request comes late.
    private func givenUp(
        _ positions: [PartitionPosition],
        _ stamp: SimulatedGroup.Stamp,
        _ metadata: [Int32: [UInt8]]
    ) -> KafkaFault {
        openOffsets = true
        if process.chance(0.5) {
            broker.arriveLater(after: 1 + Int64(process.random.below(5_000))) { [broker, name, ownEpoch] in
                try? broker.addOffsets(name, epoch: ownEpoch ?? 0, positions, stamp, metadata: metadata)
            }
        }
        fatalFault = KafkaFault.timedOut("sending offsets was given up").with(isFatal: true, requiresAbort: false)
        return fatalFault ?? .ofDeadProcess
    }

    private func spoiled(_ fault: KafkaFault) -> KafkaFault {
        abortable = fault
        return fault
    }

    private func refusedOffsets(_ refusal: BrokerRefusal) -> KafkaFault {
        guard refusal != .fencedProducer else { return fenced() }
        broker.counts.add(.fencedGeneration)
        return spoiled(KafkaFault(.illegalGeneration, "the group has moved on"))
    }

    func commit(limit milliseconds: Int) throws(KafkaFault) {
        try enters()
        guard state == .open else { throw KafkaFault(.state, "no transaction is open") }
        // The library flushes first.
        deliver(most: queue.count)
        if let fatalFault { throw fatalFault }
        if let abortable { throw abortable }
        guard queue.isEmpty else { throw KafkaFault.timedOut("records are in flight") }
        if process.chance(process.chances.indefinite) || process.chance(process.chances.client.endUnanswered) {
            return try endUnknown()
        }
        try strike()
        do throws(BrokerRefusal) { try broker.endTransaction(name, epoch: ownEpoch ?? 0, commit: true) } catch {
            throw fenced()
        }
        state = .ready
        repeatHidden(.end(commit: true))
    }

    /// Nobody can tell what became of the request.
    private func endUnknown() throws(KafkaFault) {
        let kind = [FaultKind.indefiniteLost, .indefiniteDelayed, .indefiniteCommitted][process.random.below(3)]
        switch kind {
        case .indefiniteLost: break
        case .indefiniteDelayed:
            broker.endLater(name, epoch: ownEpoch ?? 0, after: 1 + Int64(process.random.below(5_000)))
        default:
            do throws(BrokerRefusal) { try broker.endTransaction(name, epoch: ownEpoch ?? 0, commit: true) } catch {
                throw fenced()
            }
        }
        repeated.ends += 1
        // The library asks again with the next call, of the same transaction.
        if kind != .indefiniteDelayed, process.chance(0.25) {
            broker.counts.add(kind)
            throw KafkaFault.timedOut("the end of the transaction has no answer yet")
        }
        throw fatal(kind, KafkaFault(.timedOut, "the end of the transaction has no answer"))
    }

    func abort(limit milliseconds: Int) throws(KafkaFault) {
        if !queue.isEmpty || isAdding || openOffsets || hasUnsent {
            process.violate("aborts before it is settled: assertion txn_req_cnt > 0")
        }
        mayBeAborted = false
        try enters()
        guard state == .open else { throw KafkaFault(.state, "no transaction is open") }
        try strike()
        do throws(BrokerRefusal) { try broker.endTransaction(name, epoch: ownEpoch ?? 0, commit: false) } catch {
            // An abort that fails for good is an ordinary way out.
            throw fenced()
        }
        (state, abortable) = (.ready, nil)
        repeatHidden(.end(commit: false))
    }

    /// The library has sent a request twice inside the call; the broker answered one copy, and the other is late.
    private func repeatHidden(_ request: SimulatedBroker.LateRequest.Content) {
        guard process.strikes(.hiddenRepeat, process.chances.hiddenRepeat), let ownEpoch else { return }
        if request.isEnd { repeated.ends += 1 } else { repeated.additions += 1 }
        broker.late.append(
            .init(producer: name, epoch: ownEpoch, content: request, transaction: broker.transactions.count)
        )
    }
}
