internal import Testing

/// Folders of a module use each other in one direction, as modules do: who uses a type, or a member of an extension,
/// uses the folder that declares it. Types of equal names in two folders count for both; a member counts where nothing
/// else in the sources has its name.
@Suite("Folders of a module stand in no circle")
struct FolderTests {
    private static let sources = SourceTree.swiftFiles.filter { $0.isUnder(["Sources/"]) }

    static let modules = Set(sources.map(\.folder)).sorted()
    private static let names = FolderUses.declaredOnce(in: sources)

    @Test(arguments: modules)
    func `no folder uses one that uses it`(module: String) {
        let uses = FolderUses(Self.sources.filter { $0.folder == module }, names: Self.names)
        for circle in uses.circles {
            let reasons = uses.reasons(among: circle).joined(separator: "\n")
            Issue.record("\(module): \(circle.sorted().joined(separator: ", ")) use each other:\n\(reasons)")
        }
    }

    @Test func `a member of an extension is its folder's, unless another thing has its name`() {
        func file(_ path: String, _ text: String) -> SourceFile { SourceFile(path: "Sources/w/M/\(path)", text: text) }
        let a = file("A/One.swift", "struct One {\n    func run(_ two: Two) { two.walk() }\n}")
        let b = file("B/Two.swift", "struct Two {}")
        let member = "extension Two {\n    package mutating func walk() {}\n}"
        let elsewhere = file("B/Two+Walk.swift", "\(member)\n/// One\nlet one = One()")
        #expect(FolderUses([a, b, elsewhere]).circles == [["A", "B"]])
        let aside = [file("C/Two+Walk.swift", member), file("C/Three.swift", "struct Three { let one: One }")]
        #expect(FolderUses([a, b] + aside).circles == [["A", "C"]])
        let other = file("D/Four.swift", "struct Four {\n    func walk() {}\n}")
        #expect(FolderUses([a, b, other] + aside).circles.isEmpty)
        #expect(FolderUses([a, b, file("C/P.swift", "private \(member)\nlet one = One()")]).circles.isEmpty)
    }

    @Test func `a circle of two folders, and one of three, is found; a chain is none`() {
        func file(_ path: String, _ text: String) -> SourceFile { SourceFile(path: "Sources/w/M/\(path)", text: text) }
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

/// Which folders of a module use which, by the names of the types that they declare at the top level, and of the members
/// of their extensions.
struct FolderUses {
    private struct Use: Hashable {
        let file: String
        let name: String
        let folder: String
    }

    /// By the folder that uses.
    private var uses: [String: Set<Use>] = [:]

    /// - Parameter names: those that one declaration has, in whatever module; nil = in these files.
    init(_ files: [SourceFile], names: Set<String>? = nil) {
        let once = names ?? Self.declaredOnce(in: files)
        var (types, members) = ([String: Set<String>](), [String: Set<String>]())
        for file in files {
            for type in Self.declarations(file) { types[type, default: []].insert(Self.folder(file)) }
            for name in Self.extended(file) where once.contains(name) { members[name] = [Self.folder(file)] }
        }
        for file in files {
            let used = Set(file.code.flatMap { Self.names($0, all: false) })
            for name in used { note(name, types[name] ?? [], in: file) }
            for name in Set(file.code.flatMap(Self.accessed)) { note(".\(name)", members[name] ?? [], in: file) }
        }
    }

    private mutating func note(_ name: String, _ folders: Set<String>, in file: SourceFile) {
        let own = Self.folder(file)
        guard !folders.contains(own) else { return }
        for folder in folders { uses[own, default: []].insert(Use(file: file.path, name: name, folder: folder)) }
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
            (uses[own] ?? []).filter { circle.contains($0.folder) }.map { "\($0.file) uses \($0.name) of \($0.folder)" }
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

    /// `Sources/kafka/Kafka/Client/ClientHandle.swift` → `Client`; files beside the folders are one of their own.
    private static func folder(_ file: SourceFile) -> String {
        let parts = file.path.split(separator: "/")
        return parts.count > 4 ? String(parts[3]) : "."
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

    // MARK: Members

    private static let memberKinds: Set<String> = ["func", "var", "let", "case"]

    /// The name that a line declares; nil = it declares none, or a private one.
    private static func member(_ line: String) -> String? {
        let words = names(line, all: true)
        guard let kind = words.firstIndex(where: memberKinds.contains), kind + 1 < words.count,
            !words[..<kind].contains(where: { $0.hasSuffix("private") })
        else { return nil }
        return words[kind + 1]
    }

    static func declaredOnce(in files: [SourceFile]) -> Set<String> {
        let counts = files.flatMap { $0.code.compactMap(member) }.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        return Set(counts.filter { $0.value == 1 }.keys)
    }

    /// The members of a file's extensions, which the formatter has indented by four.
    private static func extended(_ file: SourceFile) -> [String] {
        var isExtension = false
        return file.code.compactMap { line in
            guard let first = line.first else { return nil }
            if !first.isWhitespace, first != "}" {
                let words = names(line, all: true)
                isExtension = words.contains("extension") && !words.contains { $0.hasSuffix("private") }
            }
            guard isExtension, line.hasPrefix("    "), !line.hasPrefix("     ") else { return nil }
            return member(line)
        }
    }

    /// The names behind a dot.
    private static func accessed(_ line: String) -> [String] {
        line.split(separator: ".", omittingEmptySubsequences: false).dropFirst().compactMap { part in
            let name = part.prefix { $0 == "_" || $0.isLetter || $0.isNumber }
            return name.isEmpty ? nil : String(name)
        }
    }

    /// The identifiers of a line; without `all` those that a type may have.
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
