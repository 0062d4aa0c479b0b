internal import AppAttest
internal import DeviceLab
internal import Risk

/// A partition beside plain sets, under random steps.
struct PartitionModel {
    private var random: SeededRandom
    private var partition = LinePartition(.first, from: 0, settings: LineSettings(first: 0))
    private var now = Sample.start
    private var nextOffset: Int64 = 0
    /// Offsets that wait for their first visit; those that are open; those that are kept, with their times.
    private var waiting: [Int64] = []
    private var open: Set<Int64> = []
    private var kept: [Int64: EvaluationTime] = [:]
    private(set) var differences: [String] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func run(steps: Int) {
        for step in 0..<steps where differences.isEmpty {
            switch random.next() % 8 {
            case 0...2: append()
            case 3...4: begin()
            case 5...6: end()
            default: now = now.after(milliseconds: Int64(random.next() % 50))
            }
            compare(step)
        }
    }

    private mutating func append() {
        guard partition.room > 0 else { return }
        nextOffset += Int64(random.next() % 3)
        let isVisited = random.next() % 4 != 0
        let dates = ReceiptDates(type: isVisited ? .attest : .receipt, createdAt: now)
        partition.append(Sample.record(nextOffset, dates))
        if isVisited { waiting.append(nextOffset) }
        nextOffset += 1
    }

    private mutating func begin() {
        let visit = partition.dueVisit(at: now)
        let expected = kept.filter { $0.value <= now }.keys.min() ?? waiting.first
        guard visit?.offset == expected else {
            differences.append("\(String(describing: visit?.offset)), not \(String(describing: expected)), is due")
            return
        }
        guard let offset = expected else { return }
        if waiting.first == offset { waiting.removeFirst() }
        let wasKept = kept.removeValue(forKey: offset) != nil
        if random.next() % 5 == 0 {
            kept[offset] = now.after(milliseconds: 20)
            if wasKept {
                for (other, until) in kept where until <= now { kept[other] = now.after(milliseconds: 20) }
            }
            partition.putAside(offset, until: now.after(milliseconds: 20), at: now)
        } else {
            open.insert(offset)
            partition.begin(offset)
        }
    }

    private mutating func end() {
        let all = open.sorted()
        guard !all.isEmpty else { return }
        let offset = all[Int(random.next() % UInt64(all.count))]
        open.remove(offset)
        if random.next() % 3 == 0 {
            kept[offset] = now.after(milliseconds: Int64(random.next() % 100))
            partition.end(offset, .kept(until: kept[offset] ?? now))
        } else {
            partition.end(offset, .done)
        }
    }

    private mutating func compare(_ step: Int) {
        let first = [open.min(), kept.keys.min(), waiting.first].compactMap(\.self).min() ?? nextOffset
        if partition.position != first {
            differences.append("step \(step): position \(partition.position), not \(first)")
        }
        if partition.unfinishedCount != open.count + kept.count { differences.append("step \(step): unfinished") }
        if partition.room != LinePartition.mostPrefetched - waiting.count { differences.append("step \(step): room") }
    }
}
