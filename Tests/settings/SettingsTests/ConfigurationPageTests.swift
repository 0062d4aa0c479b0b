import Foundation
import Settings
import TestKit
import Testing

/// The Configuration page against the settings' declarations and the readers of the files.
@Suite("The Configuration page")
struct ConfigurationPageTests {
    private struct Row: CustomTestStringConvertible {
        let line: String
        let key: String
        let type: String
        let standard: String

        var testDescription: String { key }

        /// `projects[].apps[].rollout.percent` is `rollout.percent` of an app.
        var names: [String] { key.split(separator: ".").map(String.init) }
    }

    /// The folder of the pages.
    static let pages = PackageFolder.url
        .appending(path: "Sources/program/attest-worker/Documentation.docc")

    /// The rows of the JSON files: those of kafka.properties and of the environment have fewer columns.
    private static let rows: [Row] = {
        let text = (try? String(contentsOf: pages.appending(path: "Configuration.md"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let cells = line.replacing("\\|", with: "/").split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 8, cells[1].hasPrefix("`") else { return nil }
            return Row(line: String(line), key: cells[1].replacing("`", with: ""), type: cells[2], standard: cells[3])
        }
    }()

    /// The required members of a list's element.
    private static let required = [
        "projects[]": #""number": "1", "id": "one""#, "apps[]": #""appId": "a""#,
        "signingKeys[]": #""kid": "k", "file": "root.pem""#,
    ]

    /// A configuration with an object at a place of the two files that has `member` beside what must be there.
    private static func directory(_ place: [String], _ member: String = "") throws -> ConfigurationDirectory {
        var text = member
        for name in place.reversed() {
            let members = [required[name] ?? "", text].filter { !$0.isEmpty }.joined(separator: ", ")
            let value = name.hasSuffix("[]") ? "[{\(members)}]" : "{\(members)}"
            text = "\"\(name.replacing("[]", with: ""))\": \(value)"
        }
        if place.first == "projects[]" { return try ConfigurationDirectory(apps: "{\(text)}") }
        if place.first == "anchors" { return try ConfigurationDirectory(worker: "{\(text)}") }
        return try ConfigurationDirectory(worker: ConfigurationDirectory.worker(text.isEmpty ? #""lanes": 0"# : text))
    }

    /// Every object of the files: worker.json's own, and those of keys.
    private static let places: [[String]] = {
        var places: Set<[String]> = [[]]
        for row in rows {
            for count in 1..<max(1, row.names.count) { places.insert(Array(row.names.prefix(count))) }
            if row.type == "object" { places.insert(row.names) }
        }
        return places.sorted { $0.joined(separator: ".") < $1.joined(separator: ".") }
    }()

    @Test func `the page has rows and places to compare`() {
        #expect(Self.rows.count > 60 && Self.places.count > 15)
    }

    @Test func `has the lines that the settings' declarations make, in their order`() {
        let (page, declared) = (Self.rows.map(\.line), Configuration.rows)
        let wrong = declared.filter { !page.contains($0) }.joined(separator: "\n")
        let isSame = page == declared
        #expect(isSame, "lines to be added or corrected:\n\(wrong)\n\nall lines:\n\(declared.joined(separator: "\n"))")
        #expect(!declared.contains { $0.hasSuffix("| |") }, "a setting has no meaning")
    }

    @Test(arguments: places)
    func `lists the keys that the reader knows, and no other`(place: [String]) throws {
        let fault = try #require(try Self.directory(place, #""nothing": 1"#).fault())
        let marker = "unknown key; known keys: "
        let start = try #require(fault.firstRange(of: marker)?.upperBound, "\(fault)")
        let known = fault[start...].split(separator: ".")[0].split(separator: ", ").map(String.init)
        let named = Self.rows.filter { $0.names.starts(with: place) && $0.names.count > place.count }
            .map { $0.names[place.count].replacing("[]", with: "") }
        let expected = place.isEmpty ? Set(named).subtracting(["projects", "retired"]) : Set(named)
        #expect(expected == Set(known).subtracting(["none"]))
    }

    @Test(arguments: rows.filter { $0.standard.hasPrefix("`") && !$0.type.hasPrefix("list") && $0.type != "object" })
    private func `states the default that the reader takes`(row: Row) throws {
        let standard = String(row.standard.dropFirst().prefix { $0 != "`" })
        let isBare = ["integer", "number", "boolean", "integer or `any`"].contains(row.type)
        let text = isBare || standard == "\"\"" ? standard : "\"\(standard)\""
        let place = Array(row.names.dropLast())
        let given = try Self.directory(place, "\"\(row.names.last ?? "")\": \(text)")
        // The list's element has to be there in both.
        let element = place.lastIndex { $0.hasSuffix("[]") }.map { Array(place[...$0]) } ?? []
        let absent = try Self.directory(element)
        let difference = try Self.values(given).symmetricDifference(Self.values(absent))
        #expect(difference == [])
    }

    /// Everything that a configuration says, in no order: a set's is another each time.
    private static func values(_ directory: ConfigurationDirectory) throws -> Set<Substring> {
        let text = String(describing: try directory.load()).replacing(directory.path, with: "")
        return Set(text.split { ", ()[]".contains($0) })
    }
}
