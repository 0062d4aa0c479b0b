internal import CommandFrame
internal import Commands
internal import Testing

@Suite("The README agrees with the program")
struct ReadmeTests {
    /// The words that follow the program's name on the lines of a text, up to a pipe, a comment or the line's end.
    static func invocations(in text: String) -> [[Substring]] {
        text.split(separator: "\n").flatMap { line in
            line.ranges(of: "attest-worker ").map { range in
                let end = line[range.upperBound...].prefix { !"|#`;>)".contains($0) }
                return end.split(separator: " ")
            }
        }
    }

    /// Commands and options that the program does not have.
    static func mistakes(in text: String, commands: [Command]) -> [String] {
        invocations(in: text).flatMap { words -> [String] in
            guard let first = words.first, first.allSatisfy({ $0.isLowercase || $0 == "-" }) else { return [] }
            guard let command = commands.first(where: { $0.name == first }) else { return [] }
            let known = Set(command.options.map(\.name)).union(["--help"])
            let used = words.dropFirst().filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }
            return used.filter { !known.contains($0) }.map { "\(command.name) \($0)" }
        }
    }

    @Test func `the README names every command, and only options that exist`() throws {
        let text = try #require(SourceTree.text("README.md"))
        let named = Set(Self.invocations(in: text).compactMap { $0.first.map(String.init) })
        for command in AttestWorker.commands {
            #expect(
                named.contains(command.name) || text.contains("`\(command.name)"),
                "\(command.name) is not explained"
            )
        }
        #expect(Self.mistakes(in: text, commands: AttestWorker.commands) == [])
    }

    @Test func `a line of the README that starts with the program's path is one of its commands`() throws {
        let text = try #require(SourceTree.text("README.md"))
        let known = Set(AttestWorker.commands.map(\.name)).union(["help", "--help", "--version"])
        for line in text.split(separator: "\n") {
            for range in line.ranges(of: "/attest-worker ") {
                let word = String(line[range.upperBound...].prefix { !" `|".contains($0) })
                #expect(known.contains(word), "'\(word)' is no command")
            }
        }
    }

    @Test func `a wrong option in a text is found`() {
        let command = Command(name: "go", summary: "goes", options: [.flag("--fast", "quickly")]) { _, _ in 0 }
        #expect(Self.mistakes(in: "x/attest-worker go --fast | cat --none", commands: [command]) == [])
        #expect(Self.mistakes(in: "x/attest-worker go --slow", commands: [command]) == ["go --slow"])
    }
}
