internal import KafkaPorts

extension KafkaMember {
    /// Asks whether the process that holds a partition back, or had it last, is still a member of the group.
    func advanceOrphans(at now: Moment) {
        guard isAtomic, membership.state == .owning, !isQuerying, look == .none else { return }
        if orphans.beginSuspect(at: now) { return orphans.query = ports.queries.ask(.members) }
        guard let reader else { return }
        for number in reading {
            guard let writer = ledgers.writers[number], writer != transactionalID, reader.stands(number, at: now),
                orphans.begin(writer, at: now)
            else { continue }
            return orphans.query = ports.queries.ask(.members)
        }
    }

    func takeOrphan(_ answer: Result<BrokerAnswer, KafkaFault>, at now: Moment) {
        orphans.query = nil
        switch answer {
        case .success(.members(let ids)):
            // Where the clients share a name of the user's own, ours is not among them, and nobody can be told apart.
            guard let own = transactionalID, ids.contains(own), !ids.contains(orphans.writer) else { return }
            orphans.query = ports.queries.ask(.abortTransaction(of: orphans.writer))
        case .success:
            let name = String(decoding: orphans.writer, as: UTF8.self)
            note(.timedOut("\(name) has left the group: a transaction that it may have left open is aborted by its id"))
            membership.pause.succeed()
        case .failure(let fault):
            note(settings.explain(fault, nil))
            if fault.isRecoverable { orphans.retry(at: now) }
        }
    }
}
