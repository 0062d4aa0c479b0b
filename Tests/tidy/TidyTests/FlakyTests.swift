internal import Foundation
internal import Testing

@Suite("The list of flaky tests is short, and each has an owner and a week")
struct FlakyTests {
    private static let test = "RealNetworkTests/a claim in words"

    private static func line(
        _ test: String = test,
        _ seen: String = "2026-02-25",
        due: String = "2026-03-04"
    ) -> String {
        "\(test)\t\(seen)\tan owner\t\(due)\n"
    }

    private static func faults(_ text: String, on day: String? = "2026-03-04") -> [String] {
        FlakyList(text).faults(head: day.flatMap { CalendarDay($0[...]) }) { $0.hasPrefix("RealNetworkTests/") }
    }

    @Test func `Tests/flaky.txt is as the landing wants it`() throws {
        let list = FlakyList(try #require(SourceTree.text("Tests/flaky.txt")))
        let faults = list.faults(head: Self.headDay(), isKnown: Self.isKnown)
        #expect(faults == [], "\(faults.joined(separator: "\n"))")
    }

    /// The outcome depends on the tree alone, so the day is that of its commit; nil without git.
    private static func headDay() -> CalendarDay? {
        let (git, output) = (Process(), Pipe())
        git.executableURL = URL(filePath: "/usr/bin/env")
        git.arguments = ["git", "-C", SourceTree.root.path, "log", "-1", "--format=%cs"]
        // No repository that happens to stand around the tree.
        let ceiling = ["GIT_CEILING_DIRECTORIES": SourceTree.root.deletingLastPathComponent().path]
        git.environment = ProcessInfo.processInfo.environment.merging(ceiling) { $1 }
        (git.standardOutput, git.standardError) = (output, FileHandle.nullDevice)
        guard (try? git.run()) != nil else { return nil }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        git.waitUntilExit()
        return CalendarDay(text.prefix { $0 != "\n" })
    }

    /// Whether a suite's files have the claim, or the soak has the stage.
    private static func isKnown(_ test: String) -> Bool {
        let parts = test.split(separator: "/", maxSplits: 1)
        if parts[0] == "soak" {
            let scripts = [".ci/soak", ".ci/soak-stages"].compactMap(SourceTree.text)
            return scripts.contains { $0.contains("\nstage_\(parts[1])()") }
        }
        let files = SourceTree.swiftFiles.filter { $0.isUnder(["Tests/"]) && declares(parts[0], $0) }
        let heads = ["func `\(parts[1])`(", "func \(parts[1])("]
        return files.contains { file in file.lines.contains { line in heads.contains { line.contains($0) } } }
    }

    /// A suite's name as the runner writes it: nested types have points between them.
    private static func declares(_ suite: Substring, _ file: SourceFile) -> Bool {
        let name = suite.split(separator: ".").last ?? suite
        return file.code.contains { line in
            let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            return zip(words, words.dropFirst()).contains { ["struct", "extension"].contains($0) && $1 == name }
        }
    }

    @Test func `four lines, comments and an empty list are accepted`() {
        #expect(Self.faults("") == [])
        #expect(Self.faults("# a comment\n") == [])
        let lines = (1...4).map { Self.line("\(Self.test) \($0)") }.joined()
        #expect(Self.faults("# a comment\n" + lines) == [])
        #expect(Self.faults(lines, on: nil) == [])
    }

    @Test func `a line is overdue after its due day, by the commit's date, else by the newest first seen`() {
        let fault = "overdue, of an owner: \(Self.test)"
        #expect(Self.faults(Self.line(), on: "2026-03-04") == [])
        #expect(Self.faults(Self.line(), on: "2026-03-05") == [fault])
        #expect(Self.faults(Self.line(), on: "2027-01-01") == [fault])
        let newer = Self.line("\(Self.test) too", "2026-03-05", due: "2026-03-12")
        #expect(Self.faults(Self.line() + newer, on: nil) == [fault])
    }

    @Test(arguments: ["2026-03-03", "2026-03-05", "2027-03-04", "2026-02-25"])
    func `a week is no longer and no shorter`(due: String) {
        #expect(Self.faults(Self.line(due: due), on: "2026-02-25").contains("not due after 7 days: \(Self.test)"))
    }

    private static let malformed = [
        "RealNetworkTests/a\t2026-02-25\tan owner", "RealNetworkTests/a 2026-02-25 owner 2026-03-04",
        "RealNetworkTests/a\t2026-02-25\t\t2026-03-04", "RealNetworkTests\t2026-02-25\tan owner\t2026-03-04",
        "RealNetworkTests/a\t2026-02-29\tan owner\t2026-03-08", "RealNetworkTests/a\t26-02-25\tan owner\t26-03-04",
        "RealNetworkTests/a\t2026-02-25\tan owner\t2026-03-04\tmore", "", " # no comment",
        "RealNetworkTests/a \t2026-02-25\tan owner\t2026-03-04",
    ]

    @Test(
        arguments: malformed.map { ($0 + "\n", "not Suite/claim, day, owner, day: '\($0)'") } + [
            ("# a comment", "the last line has no end"), (line("OtherTests/a claim"), "unknown: OtherTests/a claim"),
            (line() + line(), "twice: \(test)"),
            ((1...5).map { line("\(test) \($0)") }.joined(), "5 lines, of 4 at most"),
        ]
    )
    func `a list with one fault is refused`(text: String, fault: String) {
        #expect(Self.faults(text) == [fault])
    }

    @Test func `a test is known by its suite and its claim, and a stage by its name`() {
        #expect(Self.isKnown("FlakyTests/a week is no longer and no shorter") && !Self.isKnown("SmokeTests/SmokeTests"))
        #expect(!Self.isKnown("FlakyTests/A week is no longer and no shorter") && !Self.isKnown("FlakyTests/a week"))
        #expect(Self.isKnown("soak/chaos") && !Self.isKnown("soak/none"))
    }

    @Test(
        arguments: [
            "2026-13-01", "2026-00-01", "2026-04-31", "2100-02-29", "2026-1-01", "2026-01-0x", "2026-01-00", "",
        ]
    )
    func `what is no day is refused`(text: String) {
        #expect(CalendarDay(text[...]) == nil)
    }
}
