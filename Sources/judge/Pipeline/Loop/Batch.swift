internal import AppAttest
internal import Crypto
internal import Streams

/// One batch on its way through the stages. Owned by the loop; the lanes get copies of its arrays, never the batch.
final class Batch {
    /// A batch goes through these in their order and skips none; it takes few steps back: once at most where the engine
    /// stops, and once at most for each kind of key that does not sign.
    ///
    ///                          ┌─ engine stopped ─┐┌─ unsigned ─┐
    ///                          ▼                  │▼            │
    ///     decoding → decoded → verifying ───→ verified → encoding → encoded → committed
    ///      (lanes)    (loop)    (lanes)        (loop)     (lanes)    (loop)
    ///
    /// It leaves by its commit, or at any stage by an abort or a lost partition: it is then no longer in flight, and what
    /// lanes still post of it is dropped.
    enum Stage: Int, DrawnState, CaseIterable {
        case decoding, decoded, verifying, verified, encoding, encoded, committed

        func mayBecome(_ next: Stage) -> Bool {
            next.rawValue == rawValue + 1 || self == .verified && next == .verifying
                || self == .encoding && next == .verified
        }
    }

    let number: Int
    let now: EvaluationTime?
    let generation: Generation
    /// A single record, with nothing else in flight.
    let isAlone: Bool
    /// The number of records that were polled for it.
    let polledRecords: Int
    private(set) var stage = Stage.decoding { willSet { stage.check(newValue) } }
    /// Whether the engine had been stopped when Verify began: no finding is by its answers.
    private(set) var isBeyondEngine = false
    var records: [DecodedRecord] = []
    var candidates = CandidateKeys()
    var findings: [Finding] = []
    var overlay = LedgerOverlay()
    /// Where copies are made: how many ledger records each partition gets.
    var ledgerRecords: [Int32: Int] = [:]
    /// Keys that have failed to sign for it: they count as absent when it is admitted again.
    private(set) var unsigned: SigningKey.Kinds = []
    var outputs: [EncodedGrain] = []
    /// The batch's part of the loop's tally, and the positions that it commits: known from Admit on.
    var tally = LoopTally()
    private var tallyBeforeAdmit = LoopTally()
    var positions: [PartitionPosition] = []
    /// The answers' counts, which the tally takes in once they are committed.
    var answers = AnswerCounts()
    /// The timestamps of the answered requests.
    var timestamps: [[Int64]] = []
    /// The time at which its commit began, by the loop's uptime.
    var commitBegan: Int64?
    var fault: (any Error)?

    init(number: Int, generation: Generation, now: EvaluationTime?, isAlone: Bool = false, polledRecords: Int = 0) {
        (self.number, self.generation) = (number, generation)
        (self.isAlone, self.polledRecords) = (isAlone, polledRecords)
        self.now = now
    }

    func enter(_ next: Stage) { stage = next }

    /// Whether its findings are by answers of an engine that was found wrong since they were asked for.
    func isInDoubt(engineIsStopped: Bool) -> Bool { stage == .verified && engineIsStopped && !isBeyondEngine }

    /// Begins Verify; a second time, where the batch is in doubt, without anything of the first.
    ///
    /// - Parameter engineIsStopped: once it is, it remains so: a batch is verified again once at most.
    func beginVerifying(engineIsStopped: Bool) {
        precondition(
            stage == .decoded || isInDoubt(engineIsStopped: engineIsStopped),
            "only a batch in doubt is verified again"
        )
        findings = []
        isBeyondEngine = engineIsStopped
        enter(.verifying)
    }

    /// Takes in the lanes' decoded records.
    func add(_ grains: [DecodedGrain]) {
        assert(stage == .decoding && records.isEmpty, "a batch is decoded once")
        records.reserveCapacity(grains.reduce(0) { $0 + $1.records.count })
        for grain in grains {
            records += grain.records
            fault = fault ?? grain.fault
            tally.skippedLines += grain.skippedLines
        }
        candidates.add(records)
        enter(.decoded)
    }

    /// Leaves out the records that are not new; a fault ends the work when it is the batch's turn.
    ///
    /// - Returns: whether there was none.
    func keepsNew(_ isNew: ((DecodedRecord) throws -> Bool)?) -> Bool {
        guard let isNew else { return true }
        let count = records.count
        do { try records.removeAll { try !isNew($0) } } catch { fault = error }
        tally.repeatedRecords = count - records.count
        return fault == nil
    }

    func add(_ grains: [[Finding]]) {
        assert(stage == .verifying && findings.isEmpty, "findings of one verification do not meet another's")
        findings.reserveCapacity(records.count)
        for grain in grains { findings += grain }
        precondition(findings.count == records.count, "one finding per record")
        enter(.verified)
    }

    /// Hands the records and findings on: from Admit on only lanes need them, and the last lane frees them.
    func takeJudged() -> ([DecodedRecord], [Finding]) {
        tallyBeforeAdmit = tally
        defer { (records, findings) = ([], []) }
        return (records, findings)
    }

    /// Takes the lanes' outputs, or goes back before Admit where a key did not sign: a counter would have moved, and a
    /// challenge be used up, for a token that no client gets.
    func add(_ grains: [EncodedGrain]) {
        guard let first = grains.lazy.compactMap(\.unsigned).first else {
            outputs = grains
            return enter(.encoded)
        }
        let kinds = grains.reduce(into: SigningKey.Kinds()) { $0.formUnion($1.unsigned?.kinds ?? []) }
        precondition(!unsigned.isSuperset(of: kinds), "a key that counts as absent signs nothing")
        unsigned.formUnion(kinds)
        (records, findings, tally, overlay) = (first.records, first.findings, tallyBeforeAdmit, LedgerOverlay())
        enter(.verified)
    }
}

/// A grain's outputs: records, or their bytes for a transaction that takes them packed.
struct EncodedGrain {
    var records: [OutboundRecord] = []
    var packed: [PackedOutput] = []
    var counts = GrainCounts()
    /// Instead of outputs, where a key did not sign: all that the batch is admitted again with.
    var unsigned: (kinds: SigningKey.Kinds, records: [DecodedRecord], findings: [Finding])?

    func with(_ counts: GrainCounts) -> EncodedGrain {
        var grain = self
        grain.counts = counts
        return grain
    }
}

extension PartitionPosition {
    /// The next offset of each partition among `records`, sorted by partition.
    static func after(_ records: [DecodedRecord]) -> [PartitionPosition] {
        var (places, next) = (PartitionPlaces(), [(partition: Int32, offset: Int64)]())
        let records = records.span
        for index in records.indices {
            let (partition, last) = (records[index].record.partition, records[index].record.offset)
            // A capture may contain the largest offset of all, which has no next one.
            let (after, isBeyond) = last.addingReportingOverflow(1)
            let offset = isBeyond ? Int64.max : after
            if let place = places[partition] {
                next[place].offset = max(next[place].offset, offset)
            } else {
                places.add(partition, place: next.count)
                next.append((partition, max(0, offset)))
            }
        }
        return next.sorted { $0.partition < $1.partition }
            .map { PartitionPosition(partition: $0.partition, offset: $0.offset) }
    }
}
