package import KafkaPorts
package import Streams

/// Outputs: what the loop hands over, what the writer says of it, and where reading goes on.
extension KafkaMember {
    /// Whether outputs, ledger and positions become durable together.
    package var isAtomic: Bool { settings.delivery == .transaction }

    /// The share of its time that the last output took: 1 is all that an output may take.
    package var timeShare: Double { output.timeShare }

    /// When a broker appended the ledger's records of the last output.
    package var appendTime: Int64? { output.ledgerTime }

    /// Whether the outcome of the output is there to be taken.
    package var hasOutcome: Bool {
        switch output.state {
        case .ended, .failed: true
        case .idle, .writing, .committing, .aborting, .aborted: false
        }
    }

    /// Hands an output to the writer, and returns.
    ///
    /// - Parameter generation: the one under which the positions' records were polled.
    /// - Throws: a ``KafkaFault`` that asks for an abort where the positions do not belong to this assignment.
    package func write(
        _ records: [[OutboundRecord]],
        _ positions: [PartitionPosition],
        of generation: Generation,
        at now: Moment
    ) throws(KafkaFault) {
        let token = try checked(positions, of: generation)
        let budget = CallBudget(until: now + settings.outputMilliseconds, isHeldBack: awaitsMarks(positions))
        output.begin(positions, budget)
        if membership.isLeaving { output.hurry(at: now) }
        ports.writer.submit(
            .write(
                OutputBatch(
                    records: Array(records.joined()),
                    offsets: .own(positions),
                    token: token,
                    budget: budget,
                    knownLedgerEnds: ledgers.ends
                )
            )
        )
    }

    /// - Returns: the membership to commit under.
    private func checked(
        _ positions: [PartitionPosition],
        of generation: Generation
    ) throws(KafkaFault) -> any MemberToken {
        // The library knows of a lost assignment before the event comes.
        guard !isLost else { throw .stale("the assignment was lost") }
        guard generation == announcement, !membership.isArriving, !output.isTakingOver,
            let token = membership.token
        else { throw .stale("the batch belongs to an assignment before this one") }
        try partitions.check(positions)
        return token
    }

    /// Whether another member may own the partitions already.
    var isLost: Bool {
        guard membership.isLost || consumer.isAssignmentLost else { return false }
        // The output on its way hears of it, too: it sends no offsets any more.
        output.noteLost()
        return true
    }

    /// Takes the outcome of the output.
    ///
    /// - Throws: what it failed with: it is then to be aborted.
    package func takeOutcome() throws(KafkaFault) {
        if let fault = output.fault { throw fault }
        precondition(output.state == .ended, "positions move for an output that is durable")
        partitions.noteCommitted(output.positions)
        ledgers.advance(output.ledgerEnds)
        output.take(.taken)
    }

    /// Ends the output without committing it, as far as that is known, and goes back to the committed positions.
    ///
    /// - Returns: false while the writer is at it: call it again.
    package func abort(at now: Moment) throws -> Bool {
        // With the id still to be taken over, nothing is open.
        if output.state == .idle, output.isTakingOver {
            rewind(isUnknown: false)
            return true
        }
        if Output.cell(output.state, .abort) != .ignored {
            output.take(.abort)
            ports.writer.submit(.abort)
        }
        try takeOutcomes(at: now)
        assert(output.state != .idle && output.state != .writing, "an abort is under way until its outcome")
        guard output.state == .aborted else { return false }
        output.take(.taken)
        return true
    }

    // MARK: Outcomes

    func takeOutcomes(at now: Moment) throws {
        while let outcome = ports.writer.nextOutcome() { try take(outcome, at: now) }
    }

    private func take(_ outcome: WriterOutcome, at now: Moment) throws {
        switch outcome {
        case .closed: break
        case .stillTakingOver(let fault): note(fault)
        case .arrived: lookAtMarks(at: now)
        case .tookOver:
            output.isTakingOver = false
            if membership.state == .takingOver { membership.take(.tookOver) }
        case .failed(let fault, _) where output.isTakingOver:
            output.isTakingOver = false
            guard membership.state == .takingOver else { return }
            membership.pause.fail(at: now)
            try rideOut(fault)
        case .failed(let fault, let cut):
            if look == .due { look = .none }
            ledgers.distrust(cut)
            output.fault = fault
            output.take(.failed(isInDoubt: false))
        case .written(let ends, let share, let offsetsAreDue, let time):
            output.note(ledgerEnds: ends, timeShare: share, ledgerTime: time)
            offsetsAreDue ? commit(at: now) : output.take(.written)
        case .aborted(let isUnknown, let cut):
            ledgers.distrust(cut)
            let isInDoubt = output.state == .aborting(isInDoubt: true)
            output.take(.aborted)
            rewind(isUnknown: isUnknown || isInDoubt)
        }
    }

    /// Commits the offsets by the consumer, once the outputs are durable.
    private func commit(at now: Moment) {
        // The consumer may be another one by now, or the partitions another member's.
        guard !isLost else { return failCommit(.stale("the assignment was lost")) }
        do throws(KafkaFault) {
            let id = try consumer.commit(.own(output.positions))
            output.take(.offsetsAreDue(id, until: now + max(1, output.budget?.left(at: now) ?? 0)))
        } catch { failCommit(error) }
    }

    private func failCommit(_ fault: KafkaFault) {
        output.fault = settings.explain(fault, nil)
        output.take(.failed(isInDoubt: true))
    }

    /// The answer to a commit of offsets: of an output, or of the offset where a partition starts.
    func noteCommit(_ id: CommitID, _ fault: KafkaFault?, at now: Moment) throws {
        if case .committing(id, _) = output.state {
            if let fault { failCommit(fault) } else { output.take(.committed) }
            return
        }
        for partition in partitions.all {
            guard case .committing(id, _) = partition.state else { continue }
            guard let fault else { return partitions.take(.startCommitted, partition.number) }
            return try retryStart(fault, at: now)
        }
    }

    /// An answer to a commit may never come.
    func checkDeadlines(at now: Moment) throws {
        if case .committing(_, let end) = output.state,
            now >= end || output.budget.map({ $0.left(at: now) == 0 }) ?? false
        {
            failCommit(.timedOut("committing offsets of \(settings.requests): no answer in time", requiresAbort: true))
        }
        for partition in partitions.all {
            guard case .committing(_, let end) = partition.state, now >= end else { continue }
            let fault = KafkaFault.timedOut("committing the start of partition \(partition.number): no answer in time")
            return try retryStart(fault, at: now)
        }
    }

    /// The offset where a partition starts could not be committed: after a pause everything is asked for again.
    private func retryStart(_ fault: KafkaFault, at now: Moment) throws {
        guard fault.isRecoverable else { throw settings.explain(fault, settings.requests) }
        note(fault)
        takeOverAgain()
        membership.pause.fail(at: now)
    }

    /// Goes back to the committed positions. Where these are not certain, everything is asked for again: but not what
    /// is being asked already.
    private func rewind(isUnknown: Bool) {
        pending.drop()
        partitions.forEach { partition in
            partition.take(.rewind)
            if partition.state != .revoked { partition.forgetHandedOut() }
        }
        if isUnknown || marksDiffer { takeOverAgain() }
    }

    // MARK: The first mark

    /// Whether an output has a partition that no mark of its own vouches for, and no other mark is known to: a process that
    /// started under another number may then have found none either. So each makes its first marks readable, and only then
    /// looks at the others'.
    private func awaitsMarks(_ positions: [PartitionPosition]) -> Bool {
        guard isAtomic, settings.guardsPositions, let partitions = settings.partitions else { return false }
        return marked?.contains(partitions) != true && positions.contains { unmarked.contains($0.partition) }
    }

    private var marksDiffer: Bool { marked?.contains { $0 != settings.partitions } ?? false }

    /// Our marks are readable in the open transaction. In any other state the partitions are to be given back, or asked
    /// for again once the output has ended.
    private func lookAtMarks(at now: Moment) {
        guard membership.state == .owning else { return output.noteLost() }
        if case .asked = look { return }
        guard !isQuerying else { return look = .due }
        guard membership.pause.isOver(at: now) else { return }
        look = .asked(ports.queries.ask(.topicsAndMarks))
    }

    /// Some mark may not be readable: then it is asked for again.
    func noteMarks(_ answer: Result<BrokerAnswer, KafkaFault>, at now: Moment) {
        guard case .success(.topicsAndMarks(_, let found?)) = answer else { return membership.pause.fail(at: now) }
        marked = found
        marksDiffer ? output.noteLost() : output.letGo()
    }
}
