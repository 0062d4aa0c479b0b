internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Pipeline

/// Ledgers of keys alone, without loop and lanes: memory a key, a look-up, a record for judging, random keys of all.
struct LedgerMeasure {
    private static let rounds = 5
    private static let mostSamples = 1_000_000
    private let keys: Int
    private var ledgers: [KeyLedger]

    init(keys: Int, partitions: Int) {
        self.keys = keys
        ledgers = [KeyLedger](repeating: KeyLedger(), count: partitions)
    }

    mutating func run() {
        let before = Measure.resident
        for number in 0..<keys {
            guard case .key(let id, let record) = SampleKeys.change(number) else { continue }
            ledgers[number % ledgers.count].set(id, record)
        }
        print("\(keys) keys in \(ledgers.count) ledgers: \((Measure.resident - before) / keys) B a key")
        var random = SeededRandom(seed: 1)
        let samples = (0..<min(keys, Self.mostSamples)).map { _ in
            let number = Int(random.next() % UInt64(keys))
            return (id: SampleKeys.id(number), ledger: number % ledgers.count)
        }
        for round in 0..<Self.rounds {
            let (lookup, record) = (measure(samples, look), measure(samples, judge))
            print("round \(round): \(lookup) ns processor a look-up, \(record) ns a record for judging")
        }
    }

    private mutating func measure(
        _ samples: [(id: KeyID, ledger: Int)],
        _ work: (inout KeyLedger, KeyID) -> Bool
    ) -> Int {
        let before = Measure.processor
        var found = 0
        for sample in samples where work(&ledgers[sample.ledger], sample.id) { found += 1 }
        precondition(found == samples.count, "every key is there")
        return Int((Measure.processor - before) / Double(samples.count) * 1e9)
    }

    private func look(_ ledger: inout KeyLedger, _ id: KeyID) -> Bool { ledger.lookup(id) != .unknown }

    /// As a first assertion is judged: the last request is another one.
    private func judge(_ ledger: inout KeyLedger, _ id: KeyID) -> Bool {
        ledger.record(id, forRequestOf: id.digest) != nil
    }
}
