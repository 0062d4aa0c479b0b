import Testing

@testable import Telemetry

@Suite("The Metrics page agrees with the program")
struct MetricsPageTests {
    @Test func `it lists each family as declared, in order, and no other`() throws {
        let page = try #require(Page("Metrics"))
        let families = page.lines.filter { $0.hasPrefix("| `attest_") || $0.hasPrefix("| `process_") }
        let rows = MetricFamily.documented.map(\.row)
        #expect(rows.filter { row in !families.contains { $0 == row } } == [], "rows that are missing")
        #expect(families.map(String.init) == rows)
    }
}

@Suite("The Logs page agrees with the program")
struct LogEventsTests {
    @Test func `it lists each event of the log, and no other`() throws {
        let page = try #require(Page("Logs"))
        let start = try #require(page.lines.firstIndex { $0.hasPrefix("| event | level |") })
        let rows = page.lines[(start + 2)...].prefix { $0.hasPrefix("|") }
        let listed = rows.flatMap { row in
            row.split(separator: "|")[0].split(separator: "`").filter { $0.contains { $0.isLetter } }.map(String.init)
        }
        #expect(listed.sorted() == LogEvent.Name.allCases.map(\.rawValue).sorted())
    }
}
