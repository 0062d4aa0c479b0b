/// A wing of the house: a folder of modules, and what its `Wing.txt` says of it.
///
/// ```
/// What the wing is for, in a sentence or two.
///
/// imports: verify ground
/// lines of Sources: 1,250
/// lines of Tests: 800
///
/// Module: what it holds.
/// ```
struct Wing: Equatable, Sendable {
    let name: String
    var purpose = ""
    /// The wings that its modules may use, beside itself.
    var imports: [String] = []
    /// The most lines that it may have, as `wc -l` counts Swift and C.
    var budgets: [String: Int] = [:]
    var modules: [Module] = []

    struct Module: Equatable, Sendable {
        let name: String
        let purpose: String
    }

    /// Those of `Sources` from the lowest to the highest, then those that `Tests` alone has.
    static let all = ordered(names(in: "Sources").map { Wing($0, "Sources") }) + testsAlone
    static let ofSources = all.filter { !$0.modules.isEmpty }
    private static let testsAlone = names(in: "Tests").filter { !names(in: "Sources").contains($0) }
        .map { Wing($0, "Tests") }

    private static func names(in folder: String) -> [String] {
        Set(SourceTree.files.map(\.wing)).sorted().filter { $0.hasPrefix(folder + "/") }
            .map { String($0.dropFirst(folder.count + 1)) }
    }

    private init(_ name: String, _ folder: String) {
        self.init(name, text: SourceTree.text("\(folder)/\(name)/Wing.txt") ?? "")
    }

    init(_ name: String, text: String) {
        self.name = name
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
            guard parts.count == 2, !purpose.isEmpty else {
                purpose += (purpose.isEmpty ? "" : " ") + line
                continue
            }
            switch parts[0] {
            case "imports": imports = parts[1] == "nothing" ? [] : parts[1].split(separator: " ").map(String.init)
            case let key where key.hasPrefix("lines of "):
                budgets[String(key.dropFirst("lines of ".count))] = Int(parts[1].filter { $0 != "," })
            default: modules.append(Module(name: parts[0], purpose: parts[1]))
            }
        }
    }

    /// Each after those that it imports; in a circle, in the order of names.
    static func ordered(_ wings: [Wing]) -> [Wing] {
        var (sorted, rest) = ([Wing](), wings)
        while !rest.isEmpty {
            let open = Set(rest.map(\.name))
            let place = rest.firstIndex { open.isDisjoint(with: $0.imports) } ?? 0
            sorted.append(rest.remove(at: place))
        }
        return sorted
    }

    func lines(in folder: String) -> Int {
        SourceTree.files.reduce(0) { $0 + ($1.wing == "\(folder)/\(name)" ? $1.length : 0) }
    }
}

// MARK: - What Architecture shows of them

extension Wing {
    /// A row for each wing, the highest first.
    static var table: [String] {
        ["| Wing | What it is for |", "| --- | --- |"]
            + ofSources.reversed().map { "| `\($0.name)` | \($0.purpose) |" }
    }

    /// Which wing imports which: the higher ones on the left, the lower ones above.
    static var picture: [String] {
        let (rows, columns) = (ofSources.dropFirst().reversed(), ofSources.dropLast().reversed())
        let width = ofSources.map(\.name.count).max() ?? 0
        let head = String(repeating: " ", count: width + 2) + columns.map(\.name).joined(separator: "  ")
        return [head]
            + rows.map { row in
                let cells = columns.map { column in
                    (row.imports.contains(column.name) ? "x" : "").padded(to: column.name.count + 2)
                }
                let line = row.name.padded(to: width + 2) + cells.joined()
                return String(line.reversed().drop { $0 == " " }.reversed())
            }
    }

    /// A section of the modules of each wing, the highest first.
    static var sections: [String] {
        ofSources.reversed().flatMap { wing in
            ["### \(wing.name)", "", "| Module | What it holds |", "| --- | --- |"]
                + wing.modules.map { "| `\($0.name)` | \($0.purpose) |" } + [""]
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
