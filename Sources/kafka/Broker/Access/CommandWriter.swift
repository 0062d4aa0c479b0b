package import KafkaPorts
internal import Member
package import Streams

/// Runs an ``OutputWriter`` on its caller's thread, and waits for each outcome: for commands.
package final class CommandWriter {
    /// How long a take-over or an output may take.
    private static let limitMilliseconds: Int64 = 60_000

    private final class Count { var value = 0 }

    private let writer: OutputWriter
    private let time: WaitingTime
    private let made = Count()

    package init(
        _ transactionalID: String,
        on time: WaitingTime = .ofMachine,
        makeProducer: @escaping () throws(KafkaFault) -> any TransactionProducer
    ) {
        var settings = OutputWriter.Settings(
            delivery: .transaction,
            transactionalID: transactionalID,
            isStaticMember: false
        )
        settings.takeOverMilliseconds = Self.limitMilliseconds
        settings.abortMilliseconds = 10_000
        writer = OutputWriter(settings) { [made] () throws(KafkaFault) in
            made.value += 1
            return .transactional(try makeProducer())
        }
        self.time = time
    }

    /// How many producers it has made, each of which takes the id over.
    package var producers: Int { made.value }

    /// Ends what another command with this id has left open, and fences it.
    package func takeOver() throws(KafkaFault) {
        try BrokerRetry.ask(for: .milliseconds(Self.limitMilliseconds), on: time) { () throws(KafkaFault) in
            var late: KafkaFault?
            let outcome = run(.takeOver([:])) { report in
                if case .stillTakingOver(let fault) = report { late = fault }
                return late == nil
            }
            // Its job goes on: no other may follow.
            if let late { throw late.with(isFatal: true, requiresAbort: false) }
            if let fault = outcome?.fault { throw fault }
        }
    }

    /// Writes records, and offsets of their sources, in one transaction.
    ///
    /// - Parameters:
    ///   - token: of the group whose offsets they are.
    ///   - arrived: called once the records have arrived, and are not committed: where it throws, they are aborted.
    /// - Throws: a ``KafkaFault``, or the error of `arrived`; the transaction is aborted then, or only the broker knows.
    package func write(
        _ records: [OutboundRecord],
        offsets: [PartitionOffset] = [],
        _ token: any MemberToken,
        arrived: () throws -> Void
    ) throws {
        let budget = CallBudget(until: time.moment + Self.limitMilliseconds, isHeldBack: true)
        let batch = OutputBatch(records: records, offsets: offsets, token: token, budget: budget)
        var refusal: (any Error)?
        let outcome = run(.write(batch)) { report in
            guard case .arrived = report, budget.isHeldBack else { return true }
            do { try arrived() } catch {
                refusal = error
                budget.noteLost()
            }
            budget.letGo()
            return true
        }
        guard let fault = outcome?.fault else { return precondition(refusal == nil, "what is refused is aborted") }
        _ = run(.abort) { _ in true }
        throw refusal ?? fault
    }

    /// - Parameter report: returns whether the job goes on.
    /// - Returns: nil where it does not; no job may follow.
    private func run(_ job: WriterJob, _ report: (WriterOutcome) -> Bool) -> WriterOutcome? {
        writer.accept(job, at: time.moment)
        while true {
            switch writer.step(at: time.moment) {
            case .again: continue
            case .report(let outcome): if !report(outcome) { return nil }
            case .done(let outcome): return outcome
            }
        }
    }
}

extension WriterOutcome {
    fileprivate var fault: KafkaFault? {
        if case .failed(let fault, _) = self { fault } else { nil }
    }
}
