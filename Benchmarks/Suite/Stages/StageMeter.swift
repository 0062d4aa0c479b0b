internal import CMallocCounter
internal import Foundation

/// Where a batch is on its way through the loop, as seen from the loop's neighbours: streams and lanes.
enum MeasuredStage: Int, CaseIterable {
    case poll, decode, resolve, verify, admit, encode, commit

    /// What it includes, for tables.
    var title: String {
        switch self {
        case .poll: "poll"
        case .decode: "decode (lanes)"
        case .resolve: "resolve (loop)"
        case .verify: "verify without signatures (lanes)"
        case .admit: "admit (loop)"
        case .encode: "encode (lanes)"
        case .commit: "commit (loop)"
        }
    }

    /// Whether the loop's thread does it: lanes cannot take it over.
    var isSerial: Bool { self == .resolve || self == .admit || self == .commit }

    var name: String { "\(self)" }
}

/// What a stage has taken of its thread.
struct StageCost {
    var seconds = 0.0
    var allocations = 0.0
    var bytes = 0.0
    /// Retains and releases.
    var references = 0.0

    static func + (left: StageCost, right: StageCost) -> StageCost {
        StageCost(
            seconds: left.seconds + right.seconds,
            allocations: left.allocations + right.allocations,
            bytes: left.bytes + right.bytes,
            references: left.references + right.references
        )
    }

    func per(_ records: Int) -> StageCost {
        StageCost(
            seconds: seconds / Double(records),
            allocations: allocations / Double(records),
            bytes: bytes / Double(records),
            references: references / Double(records)
        )
    }
}

/// Adds up what each stage costs; the loop and its lanes run on the thread that made it.
final class StageMeter {
    private(set) var costs = [StageCost](repeating: StageCost(), count: MeasuredStage.allCases.count)
    private var stage = MeasuredStage.poll
    private var seconds = StageMeter.now
    private var counts = malloc_counts_of_thread()
    private var references = references_of_thread()

    /// Ends the present stage and begins the next.
    func enter(_ next: MeasuredStage) {
        let (seconds, counts, references) = (Self.now, malloc_counts_of_thread(), references_of_thread())
        costs[stage.rawValue].seconds += seconds - self.seconds
        costs[stage.rawValue].allocations += Double(counts.calls - self.counts.calls)
        costs[stage.rawValue].bytes += Double(counts.bytes - self.counts.bytes)
        costs[stage.rawValue].references += Double(references - self.references)
        (stage, self.counts, self.references, self.seconds) = (next, counts, references, Self.now)
    }

    /// Forgets what was measured so far.
    func restart() {
        for index in costs.indices { costs[index] = StageCost() }
    }

    private static var now: Double {
        var time = timespec()
        // The kernel writes into the local value.
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
