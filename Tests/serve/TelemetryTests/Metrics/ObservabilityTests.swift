import Foundation
import TestKit
import Testing

@testable import Telemetry

@Suite("The dashboard and the rules")
struct ObservabilityTests {
    private static let folder = PackageFolder.url
        .appending(path: "Config/observability")

    static func text(_ file: String) throws -> String {
        try String(contentsOf: folder.appending(path: file), encoding: .utf8)
    }

    private static func words(_ pattern: String, in text: String) throws -> Set<String> {
        let expression = try NSRegularExpression(pattern: pattern)
        let matches = expression.matches(in: text, range: NSRange(text.startIndex..., in: text))
        return Set(matches.compactMap { Range($0.range(at: 1), in: text).map { String(text[$0]) } })
    }

    /// As queries may write them, and sentences.
    private static func known() throws -> Set<String> {
        let families = MetricFamily.documented.flatMap { family in
            family.kind == .histogram ? ["", "_bucket", "_sum", "_count"].map { family.name + $0 } : [family.name]
        }
        return Set(families).union(try words(#"record: (attest:\S+)"#, in: text("rules.yml")))
    }

    @Test(arguments: ["rules.yml", "rules.test.yml", "dashboard.json"])
    func `every metric that is asked for exists`(file: String) throws {
        let used = try Self.words(#"\b((?:attest[_:]|process_)[a-z0-9_:]+)"#, in: Self.text(file))
        #expect(used.count > 10)
        #expect(used.subtracting(try Self.known()).sorted() == [])
    }

    @Test func `the dashboard asks for every label by a name that the family has`() throws {
        let labels = Dictionary(uniqueKeysWithValues: MetricFamily.documented.map { ($0.name, Set($0.labels)) })
        for query in try Dashboard.read(Self.text("dashboard.json")).queries {
            let selectors = try Self.words(#"((?:attest|process)_[a-z_]+\{[^}]*\})"#, in: query)
            for selector in selectors {
                let parts = selector.split(separator: "{", maxSplits: 1)
                let name = String(parts[0]).replacing("_bucket", with: "").replacing("_sum", with: "").replacing(
                    "_count",
                    with: ""
                )
                let used = try Self.words(#"([a-z_]+)(?:=|!)"#, in: String(parts[1]))
                let common: Set = parts[0].hasSuffix("_bucket") ? ["job", "instance", "le"] : ["job", "instance"]
                #expect(used.isSubset(of: (labels[name] ?? []).union(common)), "\(selector)")
            }
        }
    }

    @Test(
        .enabled(if: Promtool.path != nil, "promtool is not installed"),
        arguments: [["check", "rules", "rules.yml"], ["test", "rules", "rules.test.yml"]]
    )
    func `promtool accepts the rules, and each alert rises when it must and only then`(arguments: [String]) {
        let file = Self.folder.appending(path: arguments[2]).path()
        let answer = Promtool.run([Promtool.path ?? "promtool"] + arguments.dropLast() + [file])
        #expect(answer.code == 0, "\(answer.output)")
    }

    @Test func `each panel has its own id and a place of its own`() throws {
        let panels = try Dashboard.read(Self.text("dashboard.json")).panels
        #expect(Set(panels.map(\.id)).count == panels.count)
        for (index, panel) in panels.enumerated() {
            #expect(panel.gridPos.x >= 0 && panel.gridPos.x + panel.gridPos.w <= 24, "\(panel.title)")
            for other in panels.dropFirst(index + 1) {
                #expect(!panel.gridPos.overlaps(other.gridPos), "\(panel.title) lies on \(other.title)")
            }
        }
    }

    @Test func `each panel says what it shows, and in which unit`() throws {
        for panel in try Dashboard.read(Self.text("dashboard.json")).panels {
            #expect(!panel.title.isEmpty, "panel \(panel.id)")
            guard panel.type != "row" else { continue }
            #expect(panel.description?.isEmpty == false, "\(panel.title)")
            #expect(panel.fieldConfig?.defaults.unit?.isEmpty == false, "\(panel.title)")
            #expect(panel.targets?.isEmpty == false, "\(panel.title)")
        }
    }

    @Test func `every variable that is used is defined, and used`() throws {
        let text = try Self.text("dashboard.json")
        let used = try Self.words(#"\$\{?([A-Za-z][A-Za-z_]*)"#, in: text)
        #expect(used == Set(try Dashboard.read(text).templating.list.map(\.name)))
    }
}

/// What the tests read of Grafana's format.
struct Dashboard: Decodable {
    struct Target: Decodable { let expr: String }
    struct Defaults: Decodable { let unit: String? }
    struct FieldConfig: Decodable { let defaults: Defaults }
    struct Variable: Decodable { let name: String }
    struct Templating: Decodable { let list: [Variable] }
    struct Annotations: Decodable { let list: [Target] }

    struct Place: Decodable {
        let x, y, w, h: Int

        func overlaps(_ other: Place) -> Bool {
            x < other.x + other.w && other.x < x + w && y < other.y + other.h && other.y < y + h
        }
    }

    struct Panel: Decodable {
        let id: Int
        let type: String
        let title: String
        let description: String?
        let gridPos: Place
        let fieldConfig: FieldConfig?
        let targets: [Target]?
    }

    let panels: [Panel]
    let templating: Templating
    let annotations: Annotations

    var queries: [String] { panels.flatMap { $0.targets ?? [] }.map(\.expr) + annotations.list.map(\.expr) }

    static func read(_ text: String) throws -> Dashboard {
        try JSONDecoder().decode(Dashboard.self, from: Data(text.utf8))
    }
}
