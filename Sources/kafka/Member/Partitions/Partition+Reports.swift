internal import Streams

/// The reports on a partition that the loop has heard.
extension Partition {
    struct Reported: Equatable {
        /// The loop has taken it; until then it has only been announced, if that.
        fileprivate(set) var isTaken = false
        /// Why it is not read; nil = it is, or nothing was decided since it was announced.
        fileprivate(set) var hold: String?
        /// Its first offset is yet to be committed.
        fileprivate(set) var isFirstOffsetDue = false
        /// The last hold: a partition that is judged again is not reported again.
        fileprivate var lastHold: String?
        /// The last report of a start: until something is committed after it, each start would report the same.
        fileprivate(set) var start: PartitionStart.Report?

        /// - Parameter start: what was reported when it was ours before.
        init(start: PartitionStart.Report?) { self.start = start }
    }

    /// The loop has heard of it, and it is judged again.
    mutating func noteTaken() { (reported.isTaken, reported.hold, reported.isFirstOffsetDue) = (true, nil, false) }

    /// - Returns: that it is held.
    mutating func hold(_ sentence: String) -> PartitionEvent {
        let isNew = reported.lastHold != sentence
        (reported.hold, reported.lastHold) = (sentence, sentence)
        return .held(number, sentence, isNew: isNew)
    }

    /// - Returns: that it has started, with what earlier starts at the same offset have not reported.
    mutating func report(_ report: PartitionStart.Report) -> PartitionEvent {
        reported.isFirstOffsetDue = !report.hasCommitted
        let known = reported.start ?? PartitionStart.Report()
        var (new, all) = (report, report)
        new.skippedAtMost = max(0, report.skippedAtMost - known.skippedAtMost)
        new.deletedAtMost = max(0, report.deletedAtMost - known.deletedAtMost)
        if report.note == reported.start?.note { new.note = nil }
        all.skippedAtMost = max(known.skippedAtMost, report.skippedAtMost)
        all.deletedAtMost = max(known.deletedAtMost, report.deletedAtMost)
        reported.start = all
        return .started(number, new)
    }

    /// Something was committed after what was reported.
    mutating func forgetStart() { (reported.start, reported.isFirstOffsetDue) = (nil, false) }

}
