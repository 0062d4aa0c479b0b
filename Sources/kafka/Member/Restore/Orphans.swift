internal import KafkaPorts

/// The transactions of other processes that hold partitions of ours back, by the transactional ids in these partitions'
/// newest marks.
///
/// An heir ends such a transaction by taking its id over, which fences whichever process has the id. So it does that once
/// for each id and assignment, and only while no member of the group has the id: two processes never fence each other in
/// turns.
struct Orphans {
    /// The question that is under way.
    var query: QueryID?
    /// The id that it is about.
    private(set) var writer: [UInt8] = []
    private var tried: Set<[UInt8]> = []
    private var pause = RetryPause()

    /// - Returns: whether to ask about this id now.
    mutating func begin(_ writer: [UInt8], at now: Moment) -> Bool {
        guard pause.isOver(at: now), tried.insert(writer).inserted else { return false }
        self.writer = writer
        return true
    }

    /// Nothing was done: the brokers are asked again after a pause.
    mutating func retry(at now: Moment) {
        tried.remove(writer)
        pause.fail(at: now)
    }
}
