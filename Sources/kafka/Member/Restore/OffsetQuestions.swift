/// Which committed offsets are asked for next: all that are missing, and after a time-out each alone, since an open
/// transaction holds back the answer about every partition of a question.
struct OffsetQuestions {
    private static let first = 500
    private static let most = 5_000

    /// Milliseconds that the next question may take: more after each round, for brokers that are slow.
    private(set) var limit = first
    /// The rest of a round.
    private var alone: [Int32] = []

    /// - Parameter missing: partitions whose offset is not known, in the order of the questions.
    mutating func next(of missing: [Int32]) -> [Int32] {
        alone.removeAll { !missing.contains($0) }
        return alone.first.map { [$0] } ?? missing
    }

    /// Notes that the last question had no answer in time.
    ///
    /// - Returns: whether the round goes on, with the next partition.
    mutating func noteTimeout(of missing: [Int32]) -> Bool {
        if !alone.isEmpty { alone.removeFirst() } else if missing.count > 1 { alone = missing }
        if alone.isEmpty { limit = min(limit * 2, Self.most) }
        return !alone.isEmpty
    }
}
