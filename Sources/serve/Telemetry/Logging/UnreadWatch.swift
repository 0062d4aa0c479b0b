internal import Settings

/// Notices when partitions that are not read yet keep a worker from being ready, and when they are read.
struct UnreadWatch {
    /// How long they may be unread before a line says so, in milliseconds: a leader answers within a second.
    static let grace: Int64 = 10_000

    /// The start in milliseconds.
    private var since: Int64?
    private var isReported = false

    /// - Parameters:
    ///   - unread: partitions that were started and of which nothing has come yet.
    ///   - now: milliseconds of a clock that never goes back.
    mutating func poll(_ unread: [Int32], at now: Int64) -> [LogEvent] {
        let begin = since ?? now
        let seconds = Int((now - begin) / 1000)
        guard !unread.isEmpty else {
            let wasReported = isReported
            (since, isReported) = (nil, false)
            guard wasReported else { return [] }
            let count = LogEvent.Count("seconds", seconds)
            return [LogEvent(.info, .partitionsRead, "all partitions are read, after \(seconds) s", counts: [count])]
        }
        since = begin
        guard !isReported, now - begin >= Self.grace else { return [] }
        isReported = true
        let message =
            "the worker is not ready after \(seconds) s: \(WorkerSnapshot.text(unread: unread)); see that their leaders, "
            + "which kafka-topics.sh --describe names, run and that this machine reaches the addresses they advertise"
        return [LogEvent(.warning, .partitionsUnread, message, counts: [.init("partitions", unread.count)])]
    }
}
