internal import JSON
internal import Streams

/// Verdicts of an earlier run over the same records, by the place of the request.
package struct OldVerdicts {
    /// A result of another version may have a reason that this one does not know.
    static let otherReason: OutcomeList.Index = 255

    private var outcomes: [RecordPlace: OutcomeList.Index] = [:]
    /// Records that are not results.
    private(set) var unreadable = 0
    package var count: Int { outcomes.count }

    package init() {}

    /// - Parameter value: of a record of the results topic, as `replay` and `run` write them.
    package mutating func add(_ value: [UInt8]?, _ list: OutcomeList) {
        guard let root = value.flatMap({ try? JSONDocument(parsing: $0) })?.root, let source = root["source"],
            let partition = source["partition"]?.integer.flatMap({ Int32(exactly: $0) }),
            let offset = source["offset"]?.integer, let verdict = root["verdict"]?.string
        else { return unreadable += 1 }
        let reason = root["reason"]?.string.map { list.index(ofReason: $0) ?? Self.otherReason }
        let outcome = verdict == "accepted" ? OutcomeList.accepted : reason ?? Self.otherReason
        outcomes[RecordPlace(partition: partition, offset: offset)] = outcome
    }

    /// nil for a record without a result: a dead letter, or no part of that run.
    subscript(place: RecordPlace) -> OutcomeList.Index? { outcomes[place] }
}

/// The effect of a changed configuration: how many records went from one verdict to another.
struct VerdictDiff {
    struct Change: Hashable {
        let old: OutcomeList.Index
        let new: OutcomeList.Index
    }

    struct Entry {
        var records = 0
        /// Records by the app's index; −1 = no configured app.
        var apps: [Int: Int] = [:]
        var examples: [RecordPlace] = []
    }

    private static let mostExamples = 3

    let old: OldVerdicts
    private(set) var entries: [Change: Entry] = [:]
    private(set) var compared = 0
    private(set) var same = 0
    /// Requests without an earlier result.
    private(set) var unmatched = 0

    init(_ old: OldVerdicts) { self.old = old }

    /// - Parameter isLetter: dead letters have no result, in the old run neither.
    mutating func add(_ place: RecordPlace, _ new: OutcomeList.Index, isLetter: Bool, app: Int?) {
        guard let before = old[place] else {
            if !isLetter { unmatched += 1 }
            return
        }
        compared += 1
        guard before != new else { return same += 1 }
        var entry = entries[Change(old: before, new: new)] ?? Entry()
        entry.records += 1
        entry.apps[app ?? -1, default: 0] += 1
        if entry.examples.count < Self.mostExamples { entry.examples.append(place) }
        entries[Change(old: before, new: new)] = entry
    }

    var changed: Int { compared - same }

    /// Earlier results that no record of this run belongs to.
    var unseen: Int { old.count - compared }

    /// The most frequent first.
    var rows: [(change: Change, entry: Entry)] {
        func order(_ change: Change) -> (Int, Int) { (Int(change.old), Int(change.new)) }
        return entries.map { ($0.key, $0.value) }.sorted { left, right in
            left.1.records == right.1.records
                ? order(left.0) < order(right.0) : left.1.records > right.1.records
        }
    }
}
