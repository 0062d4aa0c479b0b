internal import Testing

/// Folders of a module use each other in one direction, as modules do: who uses a type uses the folder that declares
/// it. Types of equal names in two folders count for both.
@Suite("Folders of a module stand in no circle")
struct FolderTests {
    private static let sources = SourceTree.swiftFiles.filter { $0.isUnder(["Sources/"]) }

    static let modules = Set(sources.map(\.folder)).sorted()

    @Test(arguments: modules)
    func `No folder uses one that uses it`(module: String) {
        let uses = FolderUses(Self.sources.filter { $0.folder == module })
        for circle in uses.circles {
            let reasons = uses.reasons(among: circle).joined(separator: "\n")
            Issue.record("\(module): \(circle.sorted().joined(separator: ", ")) use each other:\n\(reasons)")
        }
    }

    @Test func `A circle of two folders, and one of three, is found; a chain is none`() {
        func file(_ path: String, _ text: String) -> SourceFile { SourceFile(path: "Sources/M/\(path)", text: text) }
        let a = file("A/One.swift", "struct One { let two: Two }")
        let b = file("B/Two.swift", "struct Two { let three: Three }")
        #expect(FolderUses([a, b, file("C/Three.swift", "struct Three {}")]).circles.isEmpty)
        #expect(
            FolderUses([a, b, file("C/Three.swift", "struct Three { let one: One? }")]).circles == [["A", "B", "C"]]
        )
        let back = file("B/Back.swift", "// One\nenum Back { static func make() -> One { One() } }")
        #expect(FolderUses([a, b, back]).circles == [["A", "B"]])
        #expect(FolderUses([a, b, file("B/Note.swift", "// One\nlet text = \"One\"")]).circles.isEmpty)
        let inText = file("B/Note.swift", "let text = \"of \\(One.name(of: \"x\")) or Four\"")
        #expect(FolderUses([a, b, inText, file("D/Four.swift", "struct Four {}")]).circles == [["A", "B"]])
        #expect(FolderUses([file("A/P.swift", "private struct Two {}\nstruct P { let q: Q }"), b]).circles.isEmpty)
    }
}

/// Which folders of a module use which, by the names of the types that they declare at the top level.
struct FolderUses {
    private struct Use: Hashable {
        let file: String
        let type: String
        let folder: String
    }

    /// By the folder that uses.
    private var uses: [String: Set<Use>] = [:]

    init(_ files: [SourceFile]) {
        var declared: [String: Set<String>] = [:]
        for file in files {
            for type in Self.declarations(file) { declared[type, default: []].insert(Self.folder(file)) }
        }
        for file in files {
            let own = Self.folder(file)
            for name in Set(file.code.flatMap(Self.names)) {
                let folders = declared[name] ?? []
                guard !folders.contains(own) else { continue }
                for folder in folders {
                    uses[own, default: []].insert(Use(file: file.path, type: name, folder: folder))
                }
            }
        }
    }

    /// Folders that reach each other.
    var circles: Set<Set<String>> {
        let reach = uses.keys.reduce(into: [String: Set<String>]()) { $0[$1] = reached(from: $1) }
        return reach.reduce(into: []) { circles, entry in
            let circle = entry.value.filter { reach[$0]?.contains(entry.key) ?? false }
            if circle.count > 1 { circles.insert(circle) }
        }
    }

    func reasons(among circle: Set<String>) -> [String] {
        circle.flatMap { own in
            (uses[own] ?? []).filter { circle.contains($0.folder) }.map { "\($0.file) uses \($0.type) of \($0.folder)" }
        }
        .sorted()
    }

    private func reached(from start: String) -> Set<String> {
        var (reached, open) = (Set<String>(), [start])
        while let folder = open.popLast() {
            for use in uses[folder] ?? [] where reached.insert(use.folder).inserted { open.append(use.folder) }
        }
        return reached
    }

    /// `Sources/Kafka/Client/ClientHandle.swift` → `Client`; files beside the folders are one of their own.
    private static func folder(_ file: SourceFile) -> String {
        let parts = file.path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : "."
    }

    private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "typealias", "actor"]

    private static func declarations(_ file: SourceFile) -> [String] {
        file.code.compactMap { line in
            guard let first = line.first, !first.isWhitespace else { return nil }
            let words = names(line, all: true)
            guard !words.contains("private"), !words.contains("fileprivate"),
                let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count
            else { return nil }
            return words[kind + 1]
        }
    }

    /// The identifiers of a line; without `all` those that a type may have.
    private static func names(_ line: String) -> [String] { names(line, all: false) }

    private static func names(_ line: String, all: Bool) -> [String] {
        let words = line.utf8.split { byte in
            !(byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte))
        }
        return words.compactMap { word in
            guard all || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(word.first ?? 0) else { return nil }
            return String(word)
        }
    }
}
