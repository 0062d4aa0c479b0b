/// How many records a batch may have when a broker takes less in a transaction's time than the configured limit: a
/// broker with a quota, for example, or far away.
///
/// The batch that a record falls into never changes its outcome, so this affects time only.
struct BatchPace {
    /// Smaller batches gain nothing: the commit itself takes most of their time.
    private static let fewest = 50
    /// Commits in a row that must be quick before batches grow.
    private static let streak = 20
    /// Batches shrink before the time runs out, and grow if twice as many records would still leave most of it.
    private static let (slow, quick) = (1.0 / 3, 1.0 / 8)

    private let most: Int
    /// The limit of the next batch.
    private(set) var records: Int
    private var quickCommits = 0

    /// - Parameter most: the configured limit.
    init(most: Int) {
        self.most = most
        records = most
    }

    /// Notes that a batch was aborted because its time was up: the next ones have half of the records that got through.
    ///
    /// - Parameter share: of the batch's outputs that were acknowledged, 0 to 1.
    mutating func ranOut(_ count: Int, acknowledged share: Double) {
        let taken = share > 0 ? min(share, 1) : 0
        shrink(to: Int(Double(count) * taken) / 2)
    }

    /// - Parameter timeShare: the share of a transaction's time that this batch took.
    mutating func committed(_ count: Int, timeShare: Double) {
        // Small batches do not show how long larger ones take.
        guard count > records / 2 else { return }
        if timeShare > Self.slow { return shrink(to: count / 2) }
        guard records < most else { return }
        quickCommits = timeShare < Self.quick ? quickCommits + 1 : 0
        guard quickCommits >= Self.streak else { return }
        quickCommits = 0
        records = min(most, records * 2)
        assert((1...max(1, most)).contains(records), "batches stay within the configured limit")
    }

    private mutating func shrink(to count: Int) {
        quickCommits = 0
        assert(count >= 0)
        records = min(records, max(count, min(Self.fewest, most)))
        assert((1...max(1, most)).contains(records), "batches stay within the configured limit")
    }
}

/// How the next batch is cut: what decides its size, and its number, which no other batch of the loop has.
struct BatchCut {
    var bisection = Bisection()
    var pace: BatchPace
    var suspects: CrashSuspects
    private var nextNumber = 0

    init(pace: BatchPace, suspects: CrashSuspects) { (self.pace, self.suspects) = (pace, suspects) }

    /// Most records of the next batch.
    var records: Int { min(pace.records, bisection.limit ?? pace.records) }

    mutating func takeNumber() -> Int {
        defer { nextNumber += 1 }
        return nextNumber
    }
}
