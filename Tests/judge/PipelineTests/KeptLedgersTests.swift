import Pipeline
import Testing

@Suite("Kept ledgers")
struct KeptLedgersTests {
    @Test func `a kept ledger expires after a quarter of an hour, even if no lookup happens`() {
        var kept = KeptLedgers()
        kept.keep(0, PartitionLedger(), at: 1_000)
        kept.sweep(at: 1_000 + KeptLedgers.milliseconds)
        #expect(kept.count == 1)
        kept.sweep(at: 1_001 + KeptLedgers.milliseconds)
        #expect(kept.count == 0)
    }

    @Test func `a ledger that is kept later expires later`() {
        var kept = KeptLedgers()
        kept.keep(0, PartitionLedger(), at: 0)
        kept.keep(1, PartitionLedger(), at: 10)
        let now = KeptLedgers.milliseconds + 5
        let (first, second) = (kept.has(0, at: now), kept.has(1, at: now))
        #expect(!first && second)
        let taken = kept.take(1)
        #expect(taken != nil && kept.count == 0)
    }

    @Test func `without a clock no ledger expires`() {
        var kept = KeptLedgers()
        kept.keep(0, PartitionLedger(), at: nil)
        kept.sweep(at: nil)
        let isKept = kept.has(0, at: nil)
        #expect(isKept)
    }
}
