internal import Settings

/// Notices changes of files: at once where SIGHUP asks, else once two polls have seen the same changed state.
struct FileWatch {
    /// Pause between two polls of the files.
    static let interval = Duration.seconds(2)

    private let isAsked: () -> Bool
    private let elapsed: ProgressMeter.Stopwatch
    private var lastPoll: Duration
    private(set) var paths: Set<String>
    /// The files as of the last read; a missing one has no entry.
    private var read: [String: FileStamp]
    /// A changed state of the files that was seen once.
    private var changing: [String: FileStamp]?

    /// - Parameters:
    ///   - read: the files' stamps from before they were read.
    ///   - isAsked: whether SIGHUP has come since the last call.
    ///   - elapsed: a clock that never goes back.
    init(
        _ paths: Set<String>,
        read: [String: FileStamp],
        isAsked: @escaping () -> Bool,
        elapsed: @escaping ProgressMeter.Stopwatch
    ) {
        (self.paths, self.read) = (paths, read)
        (self.isAsked, self.elapsed) = (isAsked, elapsed)
        lastPoll = elapsed()
    }

    /// Checks for changes: cheap, to be called several times a second.
    ///
    /// - Returns: whether the files are to be read now.
    mutating func poll() -> Bool {
        let (isAsked, now) = (isAsked(), elapsed())
        guard isAsked || now - lastPoll >= Self.interval else { return false }
        lastPoll = now
        let stamps = FileStamp.all(paths)
        // A change of several files is applied once all are written.
        guard isAsked || (stamps != read && stamps == changing) else {
            changing = stamps == read ? nil : stamps
            return false
        }
        (changing, read) = (nil, stamps)
        return true
    }

    /// Stamps the new paths now; paths that were read before keep their stamp.
    mutating func watch(_ next: Set<String>) {
        read = read.filter { next.contains($0.key) }
        read.merge(FileStamp.all(next.subtracting(paths))) { old, _ in old }
        paths = next
    }
}
