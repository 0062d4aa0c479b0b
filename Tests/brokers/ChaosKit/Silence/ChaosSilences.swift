/// The longest silence of a partition by its cause: for each kind of deed, the longest time between two outcomes of one
/// partition, while requests of it waited, that overlaps the time from a deed's begin until the next deed.
///
/// One that overlaps several of these times is the first one's, since later deeds met a partition that was silent already;
/// but it is not the one's in whose last second it began: between two outcomes there is always some time.
///
/// All times are seconds of the reader's own monotonic clock: those of brokers and workers are set meanwhile.
package struct ChaosSilences: Sendable {
    package struct Sighting: Sendable, Equatable {
        package enum Kind: Sendable { case request, outcome }

        package var kind: Kind
        package var partition: Int32
        package var at: Double

        package init(_ kind: Kind, partition: Int32, at: Double) {
            (self.kind, self.partition, self.at) = (kind, partition, at)
        }
    }

    package struct Deed: Sendable, Equatable {
        package var cause: String
        package var at: Double

        package init(_ cause: String, at: Double) { (self.cause, self.at) = (cause, at) }
    }

    package struct Row: Sendable, Equatable {
        package var cause: String
        package var runs: Int
        package var longestSeconds: Double
    }

    /// The wait for each partition's first outcome: workers start and join, whatever is done to them.
    package static let first = "until the first outcome"
    /// The time from then on until the first deed.
    package static let before = "before any deed"

    /// A partition that is silent for longer than this when a deed begins, in seconds, is silent for an earlier cause.
    static let grace = 1.0

    /// Causes in the order in which they first came.
    package private(set) var rows: [Row] = []

    package init() {}

    /// - Parameters:
    ///   - sightings: in the order in which they were seen.
    ///   - end: until when the reader looked.
    package init(_ sightings: [Sighting], deeds: [Deed], end: Double) {
        let all = [Deed(Self.before, at: -.infinity)] + deeds.sorted { $0.at < $1.at }
        var longest = all.map { _ in 0.0 }
        let silences = Self.silences(sightings, end: end)
        add(Self.first, silences.filter(\.isFirst).map { $0.end - $0.begin }.max() ?? 0)
        for silence in silences where !silence.isFirst {
            let cause = all.lastIndex { $0.at < silence.end && $0.at - Self.grace <= silence.begin }
            if let cause { longest[cause] = max(longest[cause], silence.end - silence.begin) }
        }
        for (deed, seconds) in zip(all, longest) { add(deed.cause, seconds) }
    }

    private mutating func add(_ cause: String, _ seconds: Double) {
        if let index = rows.firstIndex(where: { $0.cause == cause }) {
            rows[index].runs += 1
            rows[index].longestSeconds = max(rows[index].longestSeconds, seconds)
        } else {
            rows.append(Row(cause: cause, runs: 1, longestSeconds: seconds))
        }
    }

    package subscript(cause: String) -> Row? { rows.first { $0.cause == cause } }

    /// A table: cause, runs, longest seconds.
    package var lines: [String] {
        let title = "longest silence by cause"
        let width = rows.map { $0.cause.count + 2 }.reduce(title.count, max) + 2
        func line(_ cells: String...) -> String {
            cells[0] + String(repeating: " ", count: max(0, width - cells[0].count))
                + cells.dropFirst().map { String(repeating: " ", count: max(0, 8 - $0.count)) + $0 }.joined()
        }
        return [line(title, "runs", "seconds")]
            + rows.map { line("  " + $0.cause, String($0.runs), $0.longestSeconds.tenths) }
    }
}

// MARK: - Silences

extension ChaosSilences {
    struct Silence {
        var begin: Double
        var end: Double
        /// No outcome was seen before it.
        var isFirst: Bool
    }

    /// The times between two outcomes of a partition while requests waited. The first request that comes to an idle
    /// partition begins one, and the end of all looking ends what is still open.
    static func silences(_ sightings: [Sighting], end: Double) -> [Silence] {
        var silences: [Silence] = []
        // A request may be seen after its outcome: two readers see them.
        var waiting: [Int32: Int] = [:]
        var since: [Int32: Double] = [:]
        var answered: Set<Int32> = []
        func silence(_ partition: Int32, _ begin: Double, _ end: Double) -> Silence {
            Silence(begin: begin, end: end, isFirst: !answered.contains(partition))
        }
        for sighting in sightings {
            let partition = sighting.partition
            waiting[partition, default: 0] += sighting.kind == .request ? 1 : -1
            if sighting.kind == .outcome, let begin = since.removeValue(forKey: partition) {
                silences.append(silence(partition, begin, sighting.at))
            }
            if sighting.kind == .outcome { answered.insert(partition) }
            if waiting[partition, default: 0] <= 0 {
                since[partition] = nil
            } else if since[partition] == nil {
                since[partition] = sighting.at
            }
        }
        silences += since.map { silence($0.key, $0.value, max(end, $0.value)) }
        return silences
    }
}
