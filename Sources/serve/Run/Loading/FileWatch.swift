internal import CommandFrame
internal import Settings
internal import Telemetry

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
    /// The files that have changed since those in use were read.
    private var untaken: Set<String> = []
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
        untaken.formUnion(paths.filter { stamps[$0] != read[$0] })
        (changing, read) = (nil, stamps)
        return true
    }

    /// The files are in use as they were last read.
    mutating func take() { untaken = [] }

    /// The line of a reload that is refused.
    func refusal(_ problem: String, in directory: String) -> LogEvent {
        let names = untaken.map { $0.hasPrefix(directory + "/") ? String($0.dropFirst(directory.utf8.count + 1)) : $0 }
        let rest = names.isEmpty ? "" : " Not taken: \(names.sorted().joined(separator: ", "))."
        let sentence = "the configuration is not reloaded, the old one stays in use: \(problem)\(rest)"
        return LogEvent(.error, .configurationRefused, sentence)
    }

    /// Stamps the new paths now; paths that were read before keep their stamp.
    mutating func watch(_ next: Set<String>) {
        read = read.filter { next.contains($0.key) }
        read.merge(FileStamp.all(next.subtracting(paths))) { old, _ in old }
        paths = next
    }
}
