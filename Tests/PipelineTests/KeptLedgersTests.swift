import Pipeline
import Testing

@Suite("Ledgers that are kept")
struct KeptLedgersTests {
    @Test("A ledger is kept for a quarter of an hour, and is gone then without anybody asking")
    func age() {
        var kept = KeptLedgers()
        kept.keep(0, PartitionLedger(), at: 1_000)
        kept.sweep(at: 1_000 + KeptLedgers.milliseconds)
        #expect(kept.count == 1)
        kept.sweep(at: 1_001 + KeptLedgers.milliseconds)
        #expect(kept.count == 0)
    }

    @Test("What was put aside later stays longer")
    func later() {
        var kept = KeptLedgers()
        kept.keep(0, PartitionLedger(), at: 0)
        kept.keep(1, PartitionLedger(), at: 10)
        let now = KeptLedgers.milliseconds + 5
        let (first, second) = (kept.has(0, at: now), kept.has(1, at: now))
        #expect(!first && second)
        let taken = kept.take(1)
        #expect(taken != nil && kept.count == 0)
    }

    @Test("Without a clock nothing grows old")
    func replay() {
        var kept = KeptLedgers()
        kept.keep(0, PartitionLedger(), at: nil)
        kept.sweep(at: nil)
        let isKept = kept.has(0, at: nil)
        #expect(isKept)
    }
}
