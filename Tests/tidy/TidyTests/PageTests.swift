internal import AppAttest
internal import AppCheck
internal import CommandFrame
internal import Commands
internal import Foundation
internal import Reports
internal import Testing

@testable internal import Telemetry

@Suite("The pages agree with the program")
struct PageTests {
    private static let readable: [String] = Page.names.filter { Page($0) != nil }

    @Test func `every page is there, and the root page lists it in order`() throws {
        let folder = SourceTree.root.appending(path: Page.folder).path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".md") }
        #expect(files.sorted() == Page.names.map { $0 + ".md" }.sorted())
        let root = try #require(Page("attest-worker"))
        let listed = root.lines.filter { $0.hasPrefix("- [") }.map(String.init)
        #expect(listed == Page.names.dropFirst().map { "- [\($0)](\($0).md)" })
    }

    @Test func `Reasons lists each reason that a result or dead letter can have, and no other`() throws {
        let page = try #require(Page("Reasons"))
        let codes =
            try Self.codes(in: "verify/AppAttest/Evidence/Refusal") + Self.codes(in: "verify/AppCheck/Answer/Reason")
        let roles = Refusal.CertificateRole.allCases.map { Refusal.expiredOrNotYetValid($0).code }
        let receipts = ReceiptRefusal.allCases.map { Refusal.receipt($0).code }
        #expect(codes.count > 45)
        let all = codes + roles + receipts + DeadLetterReason.allCases.map(\.rawValue)
        #expect(page.terms.sorted() == all.sorted())
        #expect(ReasonEntry.all.map(\.code).sorted() == all.sorted())
    }

    @Test(arguments: ReasonEntry.all.map(\.code))
    func `Reasons has the texts of the command reasons`(code: String) throws {
        let page = try #require(Page("Reasons"))
        let entry = try #require(ReasonEntry.find(code))
        let status = entry.status.map { String($0.code) } ?? "—"
        let causes = entry.text.parties.map(\.rawValue).joined(separator: ", ")
        let row = "| `\(code)` | \(status) | \(entry.text.meaning) | \(causes) | \(entry.text.action) |"
        #expect(page.lines.contains { $0 == row }, "\(row)")
    }

    /// The names that a `code` property gives without any part of a case's value.
    private static func codes(in file: String) throws -> [String] {
        let text = try #require(SourceTree.text("Sources/\(file).swift"))
        return text.split(separator: "\n").compactMap { line in
            guard let start = line.firstRange(of: ": \""), line.hasSuffix("\""), line.contains("case .") else {
                return nil
            }
            let code = line[start.upperBound...].dropLast()
            return code.contains("\\(") ? nil : String(code)
        }
    }

    @Test func `CommandLine lists each command with each of its options, and no other`() throws {
        let page = try #require(Page("CommandLine"))
        let notCommands = ["Overview", "Exit codes"]
        let sections = page.sections.filter { !notCommands.contains($0.heading) }
        #expect(sections.map(\.heading).sorted() == AttestWorker.commands.map(\.name).sorted())
        for command in AttestWorker.commands {
            // The page lists the members of a summary too.
            let terms = (sections.first { $0.heading == command.name }?.terms ?? []).filter { $0.hasPrefix("-") }
            #expect(terms.sorted() == command.options.map(\.name).sorted(), "\(command.name)")
        }
    }

    @Test func `CommandLine lists each fault of lab-apple`() throws {
        let sections = try #require(Page("CommandLine")).text.components(separatedBy: "\n## ")
        let section = try #require(sections.first { $0.hasPrefix("lab-apple\n") })
        let options = try #require(AttestWorker.commands.first { $0.name == "lab-apple" }?.options)
        let faults = try #require(options.first { $0.name == "--fault" }?.choices)
        #expect(faults.count > 30 && faults.filter { !section.contains("`\($0)`") } == [])
    }

    @Test func `Records lists exactly the events that are written`() throws {
        let page = try #require(Page("Records"))
        let encoder = try #require(SourceTree.text("Sources/judge/Pipeline/Encode/EventEncoder.swift"))
        let written = Set(encoder.matches(of: /"(AppAttest[A-Za-z]+)"/).map { String($0.1) })
        #expect(written.count == 4)
        #expect(page.terms.filter { $0.hasPrefix("AppAttest") }.sorted() == written.sorted())
    }

    @Test func `Metrics lists each family as declared, in order, and no other`() throws {
        let page = try #require(Page("Metrics"))
        let families = page.lines.filter { $0.hasPrefix("| `attest_") || $0.hasPrefix("| `process_") }
        let rows = MetricFamily.documented.map(\.row)
        #expect(rows.filter { row in !families.contains { $0 == row } } == [], "rows that are missing")
        #expect(families.map(String.init) == rows)
    }

    @Test func `Logs lists each event of the log, and no other`() throws {
        let page = try #require(Page("Logs"))
        let start = try #require(page.lines.firstIndex { $0.hasPrefix("| event | level |") })
        let rows = page.lines[(start + 2)...].prefix { $0.hasPrefix("|") }
        let listed = rows.flatMap { row in
            row.split(separator: "|")[0].split(separator: "`").filter { $0.contains { $0.isLetter } }.map(String.init)
        }
        #expect(listed.sorted() == LogEvent.Name.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: PageTests.readable)
    func `a command line in a page uses only its command's options`(name: String) throws {
        let page = try #require(Page(name))
        #expect(ReadmeTests.mistakes(in: page.text, commands: AttestWorker.commands) == [])
    }

    @Test(
        arguments: PageTests.readable + ["README"]
    )
    func `pages and README have lines of 140 characters at most, and plain words`(name: String) throws {
        let readme = SourceTree.text("README.md").map { Page(name, text: $0) }
        let page = try #require(name == "README" ? readme : Page(name))
        // A command that is to be copied stays whole.
        let long = page.lines.filter { $0.count > 140 && !$0.hasPrefix("|") && !$0.hasPrefix("$(") }
        #expect(long == [])
        for word in ["anew", "whoever", "mended", "for ever", "is told", "are told", "nobody", "somebody"] {
            let found = page.lines.filter { " \($0.lowercased()) ".contains(" \(word) ") }
            #expect(found == [], "\(word)")
        }
        let prose = page.prose.map { $0.replacing(/`[^`]*`/, with: "") }
        let translated =
            /\b(is|are|was|were) (no|none)\b(?! (longer|limit|more))|\bof (its|their|our) own\b|\bmade again\b|\bbeside\b/
        #expect(prose.filter { $0.contains(translated) } == [])
    }

    @Test(arguments: PageTests.readable.dropFirst())
    func `a page says first whom it is for`(name: String) throws {
        let first = try #require(Page(name)?.lines.dropFirst().first { !$0.isEmpty })
        #expect(first.hasPrefix("For ") || name == "Start" && first.hasPrefix("Read this page first."))
    }
}
