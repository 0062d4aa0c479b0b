internal import Pipeline
internal import Streams

/// The file that one process leaves to the next: the slots of crashed threads, and how often each record was in one.
///
/// 64-bit words in the machine's byte order: a head of eight, then a mark for each slot (the signal's number and the
/// slot's words), then the suspects.
struct CrashFile {
    /// `attestwk` and the version of the layout.
    private static let magic: [Int64] = [0x6174_7465_7374_776b, 1]
    /// Words before the first mark.
    static let headWords = 8
    /// Partition, offset, timestamp, crashes, crashes alone.
    private static let suspectWords = 5
    static let mostSuspects = 512

    let slots: Int
    var suspects = CrashSuspects()

    /// The suspects in the order in which they are written.
    private var order: [WorkItem] {
        let all = suspects.counts.sorted {
            ($1.value.total, $0.key.place.partition, $0.key.place.offset)
                < ($0.value.total, $1.key.place.partition, $1.key.place.offset)
        }
        return all.prefix(Self.mostSuspects).map(\.key)
    }

    private static var markWords: Int { 1 + WorkSlot.wordCount }

    private var firstSuspect: Int { Self.headWords + slots * Self.markWords }

    /// The words of a file without marks, and the position of each suspect's count among them.
    func written() -> (words: [Int64], places: [WorkItem: Int]) {
        let count = firstSuspect + Self.mostSuspects * Self.suspectWords
        var words = [Int64](repeating: 0, count: count)
        words.replaceSubrange(0..<2, with: Self.magic)
        words.replaceSubrange(2..<5, with: [Int64(slots), Int64(Self.markWords), Int64(Self.mostSuspects)])
        var places: [WorkItem: Int] = [:]
        for (index, item) in order.enumerated() {
            let first = firstSuspect + index * Self.suspectWords
            let found = suspects.counts[item] ?? CrashSuspects.Count()
            words.replaceSubrange(
                first..<first + Self.suspectWords,
                with: [
                    Int64(item.place.partition), item.place.offset, item.timestamp, Int64(found.total),
                    Int64(found.alone),
                ]
            )
            places[item] = first + 3
        }
        return (words, places)
    }

    /// The state that an earlier process left behind.
    struct Past {
        var suspects = CrashSuspects()
        /// The crashes since the file was written: signal and work.
        var crashes: [(signal: Int, work: Work)] = []
    }

    /// - Returns: nil for words that are not such a file's.
    static func past(in words: [Int64]) -> Past? {
        guard words.count >= headWords, Array(words[0..<2]) == magic, words[3] == Int64(markWords),
            words[4] == Int64(mostSuspects), let slots = Int(exactly: words[2]), (0...1 << 16).contains(slots),
            words.count == headWords + slots * markWords + mostSuspects * suspectWords
        else { return nil }
        var counts: [WorkItem: CrashSuspects.Count] = [:]
        let table = headWords + slots * markWords
        for first in stride(from: table, to: words.count, by: suspectWords) where words[first + 3] > 0 {
            guard let partition = Int32(exactly: words[first]) else { continue }
            let place = RecordPlace(partition: partition, offset: words[first + 1])
            counts[WorkItem(place: place, timestamp: words[first + 2])] = CrashSuspects.Count(
                total: Int(clamping: words[first + 3]),
                alone: Int(clamping: words[first + 4])
            )
        }
        var past = Past(suspects: CrashSuspects(counts))
        for slot in 0..<slots {
            let mark = headWords + slot * markWords
            guard words[mark] > 0, let work = Work(words: { words[mark + 1 + $0] }) else { continue }
            past.crashes.append((Int(clamping: words[mark]), work))
            past.suspects.add(work)
        }
        return past
    }
}
