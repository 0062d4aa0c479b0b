/// How many records a batch may have, where a broker takes less in a unit's time than the configured limit: one with a
/// quota, for example, or far away.
///
/// Which batch a record falls into never changes its outcome, so this is about time alone.
struct BatchPace {
    /// Smaller batches gain nothing: the time that they take is that of the commit.
    private static let fewest = 50
    /// Commits in a row that must be quick before batches grow.
    private static let streak = 20
    /// Batches shrink before the time runs out, and grow where twice as many still leave most of it.
    private static let (slow, quick) = (1.0 / 3, 1.0 / 8)

    private let most: Int
    /// At most so many in the next batch.
    private(set) var records: Int
    private var quickCommits = 0

    /// - Parameter most: as configured.
    init(most: Int) {
        self.most = most
        records = most
    }

    /// A batch was aborted since its time was over: the next ones have half of what was taken of it.
    ///
    /// - Parameter share: of the batch's outputs that were acknowledged, 0 to 1.
    mutating func ranOut(_ count: Int, acknowledged share: Double) {
        let taken = share > 0 ? min(share, 1) : 0
        shrink(to: Int(Double(count) * taken) / 2)
    }

    /// - Parameter timeShare: of the time that a unit has, how much this batch's took.
    mutating func committed(_ count: Int, timeShare: Double) {
        // Small batches say nothing about larger ones.
        guard count > records / 2 else { return }
        if timeShare > Self.slow { return shrink(to: count / 2) }
        guard records < most else { return }
        quickCommits = timeShare < Self.quick ? quickCommits + 1 : 0
        guard quickCommits >= Self.streak else { return }
        quickCommits = 0
        records = min(most, records * 2)
    }

    private mutating func shrink(to count: Int) {
        quickCommits = 0
        records = min(records, max(count, min(Self.fewest, most)))
    }
}
