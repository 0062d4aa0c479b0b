internal import Foundation
internal import Testing

/// What Architecture and Contributing say of modules, files and types, against the tree.
@Suite("The map is the tree's")
struct MapTests {
    private static let architecture = Page("Architecture")
    private static let manifest = SourceTree.text("Package.swift").map { Manifest(text: $0) }

    /// The rows of the table under a heading, as cells.
    private static func table(_ heading: String, of page: Page?) throws -> [[String]] {
        let lines = try #require(page?.lines)
        let start = try #require(lines.firstIndex { $0.hasSuffix("# " + heading) })
        let rows = lines[start...].drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.dropFirst(2)
        return rows.map { row in row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    /// What stands in backticks.
    private static func code(_ text: some StringProtocol) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
    }

    @Test func `Architecture names each system library`() throws {
        let libraries = try #require(Self.manifest?.list("libraries")).map(\.name)
        let line = try #require(Self.architecture?.lines.first { $0.contains("module maps of system libraries") })
        #expect(Self.code(line).sorted() == libraries.sorted())
    }

    @Test func `each state of a partition is in the table of its life, in order`() throws {
        let text = try #require(SourceTree.text("Sources/kafka/Member/Partitions/Partition.swift"))
        let body = try #require(text.split(separator: "enum State: Equatable {\n").dropFirst().first)
        let states = body.prefix(upTo: try #require(body.firstRange(of: "\n    }")?.lowerBound))
            .split(separator: "\n").compactMap { $0.firstMatch(of: /^ +case ([a-z]+)/).map { String($0.1) } }
        #expect(states.count == 9)
        #expect(try Self.table("One partition's life", of: Self.architecture).flatMap { Self.code($0[0]) } == states)
        let picture = try #require(Self.architecture?.text.split(separator: "```").first { $0.contains("──▶ asked") })
        for state in states { #expect(picture.contains(state), "\(state)") }
    }

    @Test func `the glossary is in order, and what it names is in the tree`() throws {
        let rows = try Self.table("Glossary", of: Self.architecture)
        #expect(rows.count > 30 && rows.map { $0[0] } == rows.map { $0[0] }.sorted())
        let declarations = /(?:class|struct|enum|protocol) ([A-Z][A-Za-z]+)/
        let types = Set(
            SourceTree.swiftFiles.filter { $0.path.hasPrefix("Sources/") }
                .flatMap { file in file.code.flatMap { $0.matches(of: declarations).map { String($0.1) } } }
        )
        for name in rows.flatMap({ Self.code($0[2]) }) where !name.contains("/") {
            #expect(types.contains(name), "\(name)")
        }
    }

    @Test(arguments: Page.names.filter { $0 != "Changelog" })
    func `files and folders that a page names are there`(name: String) throws {
        let files = Set(SourceTree.files.map { $0.path.split(separator: "/").last.map(String.init) ?? "" })
        for line in try #require(Page(name)).prose {
            for place in Self.code(line) where !place.contains(" ") {
                let isPath = ["Sources/", "Tests/", "Benchmarks/", "Config/", ".ci/"].contains { place.hasPrefix($0) }
                if isPath {
                    let path = SourceTree.root.appending(path: place).path
                    #expect(FileManager.default.fileExists(atPath: path), "\(place)")
                } else if place.hasSuffix(".swift") {
                    #expect(files.contains(place) || place == "Package.swift", "\(place)")
                } else if place.hasSuffix(".md") {
                    #expect(Page.names.contains(String(place.dropLast(3))) || place == "README.md", "\(place)")
                }
            }
        }
    }
}
