package import Streams

/// The work that a thread was seen to do.
package struct Work: Sendable, Equatable {
    package let stage: WorkStage
    /// Distinguishes one grain from the next.
    package let number: Int64
    /// Whether no other record was in flight.
    package let isAlone: Bool
    /// The record being touched, or the whole grain where its records are touched together.
    package let items: [WorkItem]

    /// - Parameter word: a word of a ``WorkSlot``, wherever its words lie now.
    /// - Returns: nil where no thread works, or the words are not a slot's.
    package init?(words word: (Int) -> Int64) {
        guard word(WorkSlot.Word.thread) != 0, let stage = WorkStage(rawValue: word(WorkSlot.Word.stage)) else {
            return nil
        }
        let (count, current) = (word(WorkSlot.Word.count), word(WorkSlot.Word.current))
        guard (0...Int64(WorkSlot.mostItems)).contains(count), (-1..<max(0, count)).contains(current) else {
            return nil
        }
        self.stage = stage
        number = word(WorkSlot.Word.begun)
        isAlone = word(WorkSlot.Word.alone) == 1
        let range = current < 0 ? 0..<Int(count) : Int(current)..<Int(current) + 1
        items = range.compactMap { index in
            let first = WorkSlot.Word.items + index * WorkSlot.Word.itemWords
            guard let partition = Int32(exactly: word(first)) else { return nil }
            return WorkItem(
                place: RecordPlace(partition: partition, offset: word(first + 1)),
                timestamp: word(first + 2)
            )
        }
    }
}

/// A record being processed. The timestamp distinguishes it from one at the same offset of a recreated topic.
package struct WorkItem: Hashable, Sendable {
    package let place: RecordPlace
    package let timestamp: Int64

    package init(place: RecordPlace, timestamp: Int64) { (self.place, self.timestamp) = (place, timestamp) }
}

/// The work that a thread does on a record.
package enum WorkStage: Int64, Sendable, CaseIterable {
    case decoding = 1
    case resolving, verifying, admitting, encoding
}
