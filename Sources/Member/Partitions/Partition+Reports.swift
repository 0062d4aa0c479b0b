internal import Log

/// The reports on a partition that the loop has heard.
extension Partition {
    struct Told: Equatable {
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
    mutating func noteTaken() { (told.isTaken, told.hold, told.isFirstOffsetDue) = (true, nil, false) }

    /// - Returns: that it is held.
    mutating func hold(_ sentence: String) -> PartitionEvent {
        let isNews = told.lastHold != sentence
        (told.hold, told.lastHold) = (sentence, sentence)
        return .held(number, sentence, isNews: isNews)
    }

    /// - Returns: that it has started, with what earlier starts at the same offset have not reported.
    mutating func report(_ report: PartitionStart.Report) -> PartitionEvent {
        told.isFirstOffsetDue = !report.hasCommitted
        let known = told.start ?? PartitionStart.Report()
        var (news, all) = (report, report)
        news.skippedAtMost = max(0, report.skippedAtMost - known.skippedAtMost)
        news.deletedAtMost = max(0, report.deletedAtMost - known.deletedAtMost)
        if report.note == told.start?.note { news.note = nil }
        all.skippedAtMost = max(known.skippedAtMost, report.skippedAtMost)
        all.deletedAtMost = max(known.deletedAtMost, report.deletedAtMost)
        told.start = all
        return .started(number, news)
    }

    /// Something was committed after what was reported.
    mutating func forgetStart() { (told.start, told.isFirstOffsetDue) = (nil, false) }

    #if DEBUG
        /// A planted bug: its next start is reported whatever earlier ones have reported.
        mutating func forgetReport() { told.start = nil }
    #endif
}
