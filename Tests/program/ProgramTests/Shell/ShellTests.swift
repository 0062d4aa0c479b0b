internal import Foundation
internal import TestKit
internal import Testing

@testable internal import CommandFrame
@testable internal import Commands

/// Completions and manual page, in real shells.
@Suite("Shell files")
struct ShellTests {
    private static let script = BashCompletion.script(of: AttestWorker.commands)

    /// What bash offers for the last of these words, as readline splits them.
    private static func offers(_ words: [String], in folder: String = "/") throws -> [String] {
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let program = """
            cd '\(folder)'; source /dev/stdin <<'SCRIPT'
            \(script)
            SCRIPT
            COMP_WORDS=(attest-worker \(quoted)); COMP_CWORD=\(words.count); _attest_worker
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let run = PythonLab.run(["bash", "--norc", "-c", program])
        try #require(run.code == 0 && run.error.isEmpty, "\(run.error)")
        return String(decoding: run.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test(
        arguments: [
            (["rep"], ["replay"]), (["run", "--ch"], ["--check"]), (["run", "--check", "=", ""], ["config"]),
            (["run", "--check", "--inst"], ["--instance"]), (["run", "--engine", "port"], ["portable"]),
            (["run", "--engine", "=", "if"], ["ifma"]),
            (["reasons", "nonce-mis"], ["nonce-missing", "nonce-mismatch"]),
            (["schema", "ev"], ["event"]), (["completions", ""], ["bash"]), (["help", "jw"], ["jwks"]),
            (["simulate", "--devices", ""], []), (["nonsense", "--"], []),
        ]
    )
    func `bash completes commands, options and values`(words: [String], expected: [String]) throws {
        #expect(try Self.offers(words) == expected)
    }

    @Test func `bash completes folders and files where an option names one`() throws {
        let folder = try SimulationFolder()
        try FileManager.default.createDirectory(atPath: folder.file("a dir"), withIntermediateDirectories: true)
        try folder.write("", to: "a.ndjson")
        #expect(try Self.offers(["run", "--config", ""], in: folder.path) == ["a dir"])
        #expect(try Self.offers(["replay", "--input", "a."], in: folder.path) == ["a.ndjson"])
        #expect(try Self.offers(["replay", "--input", "=", "a."], in: folder.path) == ["a.ndjson"])
    }

    @Test func `every command and option can be completed`() throws {
        let names = try Self.offers([""])
        for command in AttestWorker.commands {
            #expect(names.contains(command.name))
            let options = Set(try Self.offers([command.name, "--"]))
            #expect(options == Set(command.options.map(\.name) + ["--help"]), "\(command.name)")
        }
    }

    /// A terminal, a bash with readline in it, and its user, who presses Tab.
    private static let typing = """
        import os, pty, sys, time, select
        def read(fd, until, seconds=10):
            seen, end = b"", time.monotonic() + seconds
            while until not in seen and time.monotonic() < end:
                if select.select([fd], [], [], 0.1)[0]: seen += os.read(fd, 4096)
            return seen
        pid, fd = pty.fork()
        if pid == 0: os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {"PS1": "ready> ", "PATH": os.environ["PATH"], "TERM": "dumb"})
        read(fd, b"ready> ")
        os.write(fd, ("source " + sys.argv[1] + "\\n").encode()); read(fd, b"ready> ")
        os.write(fd, b"attest-worker run --eng\\t"); first = read(fd, b"--engine ")
        os.write(fd, b"po\\t"); second = read(fd, b"portable ")
        os.write(fd, b"\\x15exit\\n")
        print("whole" if b"--engine " in first and b"portable " in second else repr((first, second)))
        """

    @Test func `a real bash with readline completes at Tab`() throws {
        let folder = try SimulationFolder()
        try folder.write(Self.script, to: "completion")
        let run = PythonLab.run(["python3", "-c", Self.typing, folder.file("completion")])
        #expect(String(decoding: run.output, as: UTF8.self) == "whole\n", "\(run.error)")
    }

    private static let hasGroff = PythonLab.run(["groff", "--version"]).code == 0

    @Test(.enabled(if: hasGroff, "groff is not installed"))
    func `groff formats the manual page without a warning`() throws {
        let folder = try SimulationFolder()
        try folder.write(ManualPage.text(of: AttestWorker.commands), to: "page")
        let run = PythonLab.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou", folder.file("page")])
        #expect(run.code == 0 && run.error.isEmpty, "\(run.error)")
        let text = String(decoding: run.output, as: UTF8.self)
        for command in AttestWorker.commands {
            #expect(
                text.contains("\n   \(command.name.replacing("-", with: "\u{2010}"))\n")
                    || text.contains("\n   \(command.name)\n"),
                "\(command.name)"
            )
            for option in command.options { #expect(text.contains(option.name), "\(command.name) \(option.name)") }
        }
    }

    @Test func `each example of the manual page is a command that parses`() throws {
        for example in ManualPage.examples {
            let words = example.term.split(separator: " ").map(String.init)
            let command = try #require(AttestWorker.commands.first { $0.name == words.first }, "\(example.term)")
            _ = try OptionParser(command: command).parse(Array(words.dropFirst()))
        }
        #expect(ManualPage.examples.count > 5)
    }

    @Test(arguments: ["SIGNALS", "ENVIRONMENT", "EXAMPLES"])
    func `the manual page has what admin's pages have`(section: String) {
        #expect(ManualPage.text(of: AttestWorker.commands).contains(".SH \(section)\n.TP\n"))
    }

    @Test(
        arguments: [
            (".TH is text", #"\&.TH is text"#), (#"a\b"#, #"a\eb"#), ("--x", #"\-\-x"#), ("it's", #"it\(aqs"#),
            ("a…", #"a\[u2026]"#),
        ]
    )
    func `text of a page is no request of roff`(text: String, escaped: String) {
        #expect(ManualPage.escaped(text) == escaped)
    }
}
