internal import Testing

@Suite("The house has wings with budgets")
struct WingTests {
    private static let wings = Wing.all.map(\.name)
    private static let libraries =
        SourceTree.text("Package.swift").flatMap { Manifest(text: $0).list("libraries") } ?? []
    private static let modules = SourceTree.text("Package.swift").flatMap { Manifest(text: $0).list("modules") } ?? []

    private func wing(_ name: String) throws -> Wing { try #require(Wing.all.first { $0.name == name }) }

    @Test func `there are ten wings of Sources, and three that Tests alone has`() {
        #expect(Wing.ofSources.count == 10 && Wing.all.count == 13, "\(Self.wings)")
    }

    @Test(arguments: wings)
    func `a wing says what it is for, what it imports and how large it may be`(name: String) throws {
        let wing = try wing(name)
        #expect(wing.purpose.hasSuffix(".") && wing.purpose.utf8.count <= 160, "\(wing.purpose)")
        for folder in ["Sources", "Tests"] where wing.lines(in: folder) > 0 || wing.budgets[folder] != nil {
            let (lines, most) = (wing.lines(in: folder), try #require(wing.budgets[folder]))
            #expect(
                lines <= most,
                "\(folder)/\(name) has \(lines) lines, and its Wing.txt allows \(most): take something out, or raise it in a commit that says what the lines buy"
            )
            // What was taken out is not there to be spent again.
            #expect(
                most - lines <= max(200, most / 20),
                "\(folder)/\(name) has \(lines) lines: lower its budget of \(most)"
            )
        }
    }

    @Test(arguments: wings)
    func `the modules of a wing use those of wings that it imports`(name: String) throws {
        let wing = try wing(name)
        let allowed = Wing.all.filter { $0.name == name || wing.imports.contains($0.name) }
        let inSight = Set(allowed.flatMap { $0.modules.map(\.name) })
        for module in Self.modules where wing.modules.contains(where: { $0.name == module.name }) {
            let foreign = Set(module.dependencies).subtracting(inSight).subtracting(Self.libraries.map(\.name))
            #expect(foreign == [], "\(module.name) of \(name)")
        }
    }

    @Test func `wings import those below them alone`() {
        for (place, wing) in Wing.ofSources.enumerated() {
            #expect(Set(wing.imports).isSubset(of: Self.wings.prefix(place)), "\(wing.name)")
        }
    }

    @Test func `each module is described where it lies, and declared`() {
        let described = Wing.ofSources.flatMap { wing in wing.modules.map { "Sources/\(wing.name)/\($0.name)" } }
        let folders = Set(SourceTree.files.map(\.folder).filter { $0.hasPrefix("Sources/") })
        // Beside them are module maps of system libraries.
        let others = folders.subtracting(described).map { String($0.split(separator: "/").last ?? "") }
        #expect(folders.isSuperset(of: described) && Set(others).isSubset(of: Self.libraries.map(\.name)), "\(others)")
        let names = Wing.ofSources.flatMap { $0.modules.map(\.name) }
        #expect(names.sorted() == Self.modules.map(\.name).sorted())
    }

    @Test func `Architecture shows the wings as their files describe them`() throws {
        let page = try #require(Page("Architecture"))
        for part in [Wing.table, Wing.picture, Wing.sections] {
            let text = part.joined(separator: "\n")
            #expect(page.text.contains(text), "Architecture lacks:\n\(text)")
        }
    }

    @Test func `a wing's file is read, and wings are ordered by what they import`() {
        let text =
            "From a to b.\nOr c.\n\nimports: x y\nlines of Sources: 1,250\nlines of Tests: 80\n\nM: holds: it.\nN: n.\n"
        let wing = Wing("w", text: text)
        #expect(wing.purpose == "From a to b. Or c." && wing.imports == ["x", "y"])
        #expect(wing.budgets == ["Sources": 1_250, "Tests": 80])
        #expect(wing.modules == [.init(name: "M", purpose: "holds: it."), .init(name: "N", purpose: "n.")])
        let low = Wing("low", text: "Low.\n\nimports: nothing\n")
        let high = Wing("high", text: "High.\n\nimports: low\n")
        #expect(Wing.ordered([high, low]).map(\.name) == ["low", "high"])
        let one = Wing("one", text: "One.\n\nimports: two\n")
        #expect(Wing.ordered([one, Wing("two", text: "Two.\n\nimports: one\n")]).map(\.name) == ["one", "two"])
    }
}
