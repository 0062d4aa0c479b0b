internal import AppCheck
internal import JSON
internal import Pipeline
internal import Settings
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
        entries.map { ($0.key, $0.value) }.sorted { left, right in
            (-left.1.records, left.0.old, left.0.new) < (-right.1.records, right.0.old, right.0.new)
        }
    }
}

/// The outcome of each earlier verdict, for `--diff`.
extension ReplayReport {
    private static let mostChanges = 60
    private static let mostApps = 5

    func changes(_ diff: VerdictDiff) -> [Report.Part] {
        func count(_ isMeant: (OutcomeList.Index, OutcomeList.Index) -> Bool) -> Int {
            diff.entries.reduce(0) { isMeant($1.key.old, $1.key.new) ? $0 + $1.value.records : $0 }
        }
        let share = Figure.share(diff.changed, of: diff.compared)
        var parts: [Report.Part] = [
            .tiles([
                Report.Tile("Compared", .count(diff.compared), "records"),
                Report.Tile(warning: "Changed", diff.changed, share),
                Report.Tile("Newly accepted", .count(count { $0 != 0 && $1 == 0 }), "", .blue),
                Report.Tile("No longer accepted", .count(count { $0 == 0 && $1 != 0 }), "", .orange),
            ])
        ]
        let notes = [
            (diff.unmatched, "record", "had no earlier result"),
            (diff.unseen, "earlier result", "had no record in this replay"),
            (diff.old.unreadable, "record", "of the earlier results could not be read"),
        ]
        parts += notes.filter { $0.0 > 0 }.map { Report.Part.text("\($0.0.counted($0.1)) \($0.2).") }
        guard diff.changed > 0 else { return parts + [.text("No verdict changed.")] }
        let columns = ["before", "now", "records", "examples"] + (hasApps ? ["apps"] : [])
        parts.append(.table(Report.Table(columns, diff.rows.prefix(Self.mostChanges).map { row($0.change, $0.entry) })))
        let hidden = diff.rows.dropFirst(Self.mostChanges).reduce(0) { $0 + $1.entry.records }
        if hidden > 0 { parts.append(.text("\(hidden.counted("record")) changed in other ways.")) }
        return parts
    }

    private func row(_ change: VerdictDiff.Change, _ entry: VerdictDiff.Entry) -> Report.Row {
        let isOther = change.old == OldVerdicts.otherReason
        let old = isOther ? "a reason of another version" : outcomes.name(Int(change.old))
        let examples = entry.examples.map { Self.text($0) }.joined(separator: ", ")
        let cells: [Report.Value] = [
            .code(old), .code(outcomes.name(Int(change.new))), .count(entry.records), .text(examples),
        ]
        var row = Report.Row(cells + (hasApps ? [.text(apps(entry))] : []))
        // Why it is so now, in full.
        let example = commandForAll == nil ? entry.examples.first : nil
        row.command = example.map { run.explains(Self.text($0)) }
        return row
    }

    private func apps(_ entry: VerdictDiff.Entry) -> String {
        let apps = entry.apps.sorted { ($0.value, -$0.key) > ($1.value, -$1.key) }
        let shown = apps.prefix(Self.mostApps).map { app, count in
            let name = app >= 0 ? ShownText.of(facts.settings.registry.apps[app].name) : "no app"
            return "\(count.grouped) \(name)"
        }
        let rest = apps.count - shown.count
        return (shown + (rest > 0 ? ["and \(rest.grouped) more"] : [])).joined(separator: ", ")
    }
}
