import KafkaPorts
import Streams
import Testing

@testable import Member

/// A member that writes requests 0 to 60 in batches, and repeats a batch after each abort.
private struct WriterRun {
    private static let requests: Int64 = 60
    let world: WriterWorld
    private let writer: OutputWriter
    private let delivery: OutputWriter.Settings.Delivery
    private var ledgerEnd: Int64 = 0
    /// Where the member reads on; what it believes to be committed.
    private var position: Int64 = 0
    private var tries = 0

    init(_ seed: UInt64, _ delivery: OutputWriter.Settings.Delivery, _ change: (inout OutputWriter.Settings) -> Void) {
        let world = WriterWorld(seed: seed)
        // A static member is not told apart from a second process so soon.
        var settings = OutputWriter.Settings(delivery: delivery, transactionalID: "id", isStaticMember: true)
        change(&settings)
        writer = OutputWriter(settings) {
            let producer = WorldProducer(world, isAtomic: delivery == .transaction)
            return delivery == .transaction ? .transactional(producer) : .idempotent(producer)
        }
        (self.world, self.delivery) = (world, delivery)
    }

    private mutating func finish(_ job: WriterJob) -> WriterOutcome? {
        writer.accept(job, at: world.now)
        for _ in 0..<2_000 {
            world.now = world.now + Int64(1 + world.below(60))
            if world.budget != nil, world.happens(0.003, "the assignment was lost") {
                world.budget?.noteLost()
                world.isLost = true
            }
            if case .done(let outcome) = writer.step(at: world.now) { return outcome }
        }
        world.complain("a job does not end")
        return nil
    }

    /// What a member does before it reads: nothing of a predecessor is pending then.
    private mutating func takeOver() -> Bool {
        for _ in 0..<100 {
            guard let outcome = finish(.takeOver(["results": 1])) else { return false }
            guard case .failed(let fault, _) = outcome else { break }
            if fault.isFatal { world.complain("taking over ends the member: \(fault.message)") }
            world.now = world.now + 5_000
        }
        (position, world.isLost) = (world.committed, false)
        return true
    }

    private func batch(_ last: Int64) -> OutputBatch {
        let records = (position..<last).flatMap { number in
            [OutputTopic.results, .ledger].map { stream in
                OutboundRecord(
                    stream: stream,
                    partition: 0,
                    sourceOffset: number,
                    sourceTimestamp: 0,
                    key: nil,
                    value: nil
                )
            }
        }
        return OutputBatch(
            records: records,
            offsets: [PartitionOffset(partition: 0, offset: last)],
            token: TestToken(),
            budget: CallBudget(until: world.now + 3_000),
            // At least once the writer knows of its own records.
            knownLedgerEnds: delivery == .transaction ? [0: ledgerEnd] : [:]
        )
    }

    mutating func run() {
        guard takeOver() else { return }
        while position < Self.requests, tries < 500 {
            tries += 1
            if ledgerEnd > 0, world.happens(0.02, "the ledger was cut") { world.cutLedger() }
            let last = min(Self.requests, position + Int64(1 + world.below(8)))
            let batch = batch(last)
            world.budget = batch.budget
            let knownEnd = ledgerEnd
            let firstEnd = world.ledgerEnd
            let outcome = finish(.write(batch))
            world.budget = nil
            guard let outcome, follow(outcome, last, wasCut: firstEnd < knownEnd) else { return }
        }
        if position < Self.requests { world.complain("no progress after \(tries) outputs") }
        guard case .closed? = finish(.close) else { return }
        check()
    }

    /// Returns false where nothing more is to be seen.
    private mutating func follow(_ outcome: WriterOutcome, _ last: Int64, wasCut: Bool) -> Bool {
        switch outcome {
        case .written(let ends, _, let offsetsAreDue, _):
            if wasCut { world.complain("an output is written over a cut ledger") }
            if offsetsAreDue { world.commitOffset(last) }
            (position, ledgerEnd) = (last, delivery == .transaction ? max(ledgerEnd, ends[0] ?? 0) : world.ledgerEnd)
            return world.isLost ? takeOver() : true
        case .failed(let fault, let cut):
            if fault.isFatal { world.complain("a fault ends the member: \(fault.message)") }
            if !cut.isEmpty { ledgerEnd = 0 }
            guard case .aborted(let isUnknown, let cutLater)? = finish(.abort) else { return false }
            if !cutLater.isEmpty { ledgerEnd = 0 }
            if !isUnknown, world.isOpen, delivery == .transaction { world.complain("an aborted transaction is open") }
            return isUnknown || world.isLost ? takeOver() : true
        case .tookOver, .stillTakingOver, .arrived, .aborted, .closed: return true
        }
    }

    private func check() {
        let all = Array(0..<Int(Self.requests))
        switch delivery {
        case .transaction:
            if world.visible != all { world.complain("readers see \(world.visible.count) of \(all.count) answers") }
        case .atLeastOnce:
            if Set(world.visible) != Set(all) { world.complain("requests have no answer") }
        }
        if Set(world.marks) != Set(all) { world.complain("the ledger misses requests") }
    }
}

@Suite("Output writer under seeds")
struct OutputWriterSimulationTests {
    typealias Delivery = OutputWriter.Settings.Delivery

    private static func run(
        _ seed: UInt64,
        _ delivery: Delivery,
        _ change: (inout OutputWriter.Settings) -> Void = { _ in }
    ) -> WriterWorld {
        var run = WriterRun(seed, delivery, change)
        run.run()
        return run.world
    }

    @Test(arguments: [(Delivery.transaction, 24), (.atLeastOnce, 11)])
    func `whatever the coordinator does, requests are answered, and exactly once in transactions`(
        delivery: Delivery,
        events: Int
    ) {
        var counts: [String: Int] = [:]
        for seed in 1...3_000 as ClosedRange<UInt64> {
            let world = Self.run(seed, delivery)
            #expect(world.complaints == [], "seed \(seed)")
            counts.merge(world.counts, uniquingKeysWith: +)
        }
        // A simulation without faults proves nothing.
        #expect(counts.count == events && counts.values.allSatisfy { $0 >= 100 }, "\(counts)")
        #expect(counts["a late copy took effect"] == nil)
    }
}
