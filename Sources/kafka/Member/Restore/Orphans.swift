internal import KafkaPorts

/// The transactions of other processes that hold partitions of ours back, or what was written of them, by the
/// transactional ids in these partitions' newest marks.
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
    /// Writers of partitions that are whole here: what they left open may still hold back the readers of our outputs.
    private var suspects: [[UInt8]] = []
    private var pause = RetryPause()

    mutating func suspect(_ writer: [UInt8]) {
        if !suspects.contains(writer) { suspects.append(writer) }
    }

    /// - Returns: whether there is a suspect to ask about now, who is one no more.
    mutating func beginSuspect(at now: Moment) -> Bool {
        guard pause.isOver(at: now) else { return false }
        while let suspect = suspects.popLast() { if begin(suspect, at: now) { return true } }
        return false
    }

    /// - Returns: whether to ask about this id now.
    mutating func begin(_ writer: [UInt8], at now: Moment) -> Bool {
        guard pause.isOver(at: now), tried.insert(writer).inserted else { return false }
        self.writer = writer
        return true
    }

    /// Nothing was done: the brokers are asked again after a pause.
    mutating func retry(at now: Moment) {
        tried.remove(writer)
        suspect(writer)
        pause.fail(at: now)
    }
}
