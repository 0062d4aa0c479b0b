internal import Foundation
internal import Settings
internal import Testing

@testable internal import CommandFrame
@testable internal import Commands

@Suite("The command line")
struct CommandLineTests {
    private static let sample = Command(
        name: "sample",
        summary: "does a sample's work",
        options: [
            .value("--config", "DIR", "the configuration", .required),
            .value("--count", "N", "how many"),
            .value("--share", "SHARE", "how much"),
            .value("--app-id", "ID", "an App ID", .repeatable),
            .value("--at", "TIME", "when"),
            .value("--seed", "S", "which"),
            .flag("--json", "as JSON"),
        ],
        operands: Command.Operands("FILE", count: 0...1, summary: "what to read"),
        notes: "Note well.",
        run: { arguments, console in
            _ = try arguments.integer("--count", in: 1...10)
            _ = try arguments.number("--share", in: 0...1)
            _ = try arguments.time("--at")
            _ = try arguments.seed("--seed")
            if arguments.has("--json") { throw CommandFault("the broker is down:\nstart it.") }
            console.print("ran")
            return 0
        }
    )

    private func run(_ arguments: String...) -> (code: Int32, transcript: Transcript) {
        Transcript.run(arguments, commands: [Self.sample])
    }

    @Test func `a successful command exits 0 and writes nothing to standard error`() {
        let (code, transcript) = run("sample", "--config", "x", "--count=3", "--app-id", "a", "--app-id=b", "file")
        #expect(code == 0)
        #expect(transcript.output == "ran\n")
        #expect(transcript.error.isEmpty)
    }

    @Test func `both spellings of an option give its value, and a repeatable option keeps its order`() throws {
        let parser = OptionParser(command: Self.sample)
        let parsed = try parser.parse(["--config", "d", "--app-id", "a", "--app-id=b=c", "--json", "--", "--count"])
        #expect(parsed.string("--config") == "d")
        #expect(parsed.strings("--app-id") == ["a", "b=c"])
        #expect(parsed.has("--json"))
        #expect(parsed.operands == ["--count"])
        #expect(try parser.parse(["--config", "d", "-"]).operands == ["-"], "a lone dash is an operand")
    }

    @Test func `the overview and each command's help fit in 100 columns`() {
        let texts = [HelpText.overview(of: AttestWorker.commands)] + AttestWorker.commands.map { HelpText.of($0) }
        #expect(texts.flatMap { $0.split(separator: "\n").filter { $0.count > 100 } } == [])
    }

    @Test(
        arguments: [
            ([], "no command given"),
            (["smaple"], "unknown command 'smaple': did you mean sample?"),
            (["--versoin"], "unknown option '--versoin': did you mean --version?"),
            (["sample"], "--config DIR is required"),
            (["sample", "--config"], "--config needs a value: --config DIR"),
            (["sample", "--config="], "--config needs a value"),
            (["sample", "--config", "--json"], "--config needs a value"),
            (["sample", "--cofnig", "x"], "unknown option --cofnig: did you mean --config?"),
            (["sample", "--zzzzzz"], "unknown option --zzzzzz."),
            (["sample", "--config", "a", "--config", "b"], "--config is given twice"),
            (["sample", "--config", "a", "--json=1"], "--json takes no value"),
            (["sample", "--config", "a", "b", "c"], "unexpected argument 'c'"),
            (["sample", "--config", "a", "--count", "0"], "--count must be a whole number from 1 to 10, not '0'"),
            (["sample", "--config", "a", "--count", "99999999999999999999"], "--count must be a whole number"),
            (["sample", "--config", "a", "--share", "1.5"], "--share must be a number between 0 and 1"),
            (["sample", "--config", "a", "--share", "nan"], "--share must be a number between 0 and 1"),
            (["sample", "--config", "a", "--at", "noon"], "--at must be a time"),
            (["sample", "--config", "a", "--seed", "-1"], "--seed must be a whole number"),
        ]
    )
    func `wrong usage ends with one line that says what is wrong, and exit code 2`(
        arguments: [String],
        expected: String
    ) {
        let (code, transcript) = Transcript.run(arguments, commands: [Self.sample])
        #expect(code == 2)
        #expect(transcript.output.isEmpty)
        #expect(transcript.error.hasPrefix("attest-worker: "))
        #expect(transcript.error.contains(expected))
        #expect(transcript.error.filter(\.isNewline).count == 1)
    }

    @Test func `an environment fault ends with one line and exit code 1`() {
        let (code, transcript) = run("sample", "--config", "x", "--json")
        #expect(code == 1)
        #expect(transcript.error == "attest-worker: the broker is down: start it.\n")
    }

    @Test(arguments: [["sample", "--help"], ["help", "sample"]])
    func `help lists every option on standard output, with exit code 0`(arguments: [String]) {
        let (code, transcript) = Transcript.run(arguments, commands: [Self.sample])
        #expect(code == 0)
        for option in Self.sample.options { #expect(transcript.output.contains(option.usage)) }
        #expect(transcript.output.contains("Note well."))
        #expect(transcript.error.isEmpty)
    }

    @Test func `the overview lists every command; the version is printed alone`() {
        let (code, transcript) = run("--help")
        #expect(code == 0)
        #expect(transcript.output.contains("sample"))
        #expect(run("--version").transcript.output == "attest-worker \(AttestWorker.version)\n")
    }

    @Test func `the program's own commands have distinct names, options with dashes, and summaries of one line`() {
        let commands = AttestWorker.commands
        #expect(Set(commands.map(\.name)).count == commands.count)
        for command in commands {
            #expect(!command.summary.isEmpty && !command.summary.contains("\n"))
            #expect(Set(command.options.map(\.name)).count == command.options.count)
            #expect(command.options.allSatisfy { $0.name.hasPrefix("--") && !$0.summary.isEmpty })
        }
    }
}

@Suite("Times on the command line")
struct TimeTextTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-11-20T12:00:00Z", 1_795_176_000_000),
            ("2026-11-20T12:00:00.5Z", 1_795_176_000_500),
            ("2026-11-20T12:00:00.123456789Z", 1_795_176_000_123),
            ("2026-11-20T14:00:00.25+02:00", 1_795_176_000_250),
            ("1795176000123", 1_795_176_000_123), ("2024-02-29T23:59:59Z", 1_709_251_199_000),
            ("2000-02-29T00:00:00-00:30", 951_784_200_000), ("2000-03-01T00:00:00+00:00", 951_868_800_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("1972-03-01T00:00:00Z", 68_256_000_000),
        ] as [(String, Int64)]
    )
    func `RFC 3339 and milliseconds are read`(text: String, milliseconds: Int64) {
        #expect(TimeText.milliseconds(text) == milliseconds)
    }

    @Test(
        arguments: [
            "", "now", "2026-11-20", "2026-11-20T12:00:00", "2026-13-20T12:00:00Z", "-1", "1e9",
            "2026-11-20T12:00:00.Z", "2025-02-29T12:00:00Z", "2100-02-29T12:00:00Z", "2026-00-20T12:00:00Z",
            "2026-11-00T12:00:00Z", "2026-11-31T12:00:00Z", "2026-11-20T24:00:00Z", "2026-11-20T12:60:00Z",
            "2026-11-20T12:00:60Z", "2026-11-20T12:00:00+24:00", "2026-11-20T12:00:00+01:60",
            "2026-11-20T12:00:00+0100",
            "2026-11-20T12:00:00*01:00", "2026-11-20 12:00:00Z", "2026/11/20T12:00:00Z", "20é6-11-20T12:00:00Z",
            "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01", "2026-11-20T12:00:00ZZ",
            "2026-11-20T12:00:00.1234567890Z",
        ]
    )
    func `any other text is not a time`(text: String) {
        #expect(TimeText.milliseconds(text) == nil)
    }

    @Test(
        arguments: [0, 1_795_176_000_123, 951_782_400_000, 1_709_164_800_001, 4_107_542_399_999, 253_402_300_799_999]
            as [Int64]
    )
    func `a time is shown in UTC with milliseconds and reads back`(milliseconds: Int64) {
        let text = TimeText.rfc3339(milliseconds)
        #expect(text.hasSuffix("Z") && text.utf8.count == 24)
        let date = Date(timeIntervalSince1970: Double(milliseconds / 1000))
        #expect(text.hasPrefix(date.formatted(.iso8601).dropLast()), "as Foundation writes it")
        #expect(TimeText.milliseconds(text) == milliseconds)
    }
}

@Suite("Progress and tables")
struct ConsoleTests {
    @Test func `off a terminal, progress is a plain line every five seconds`() {
        let transcript = Transcript()
        var now = Duration.zero
        var meter = ProgressMeter(
            "work",
            unit: "record",
            total: 4000,
            console: transcript.console,
            elapsed: { now }
        )
        for second in 1...12 {
            now = .seconds(second)
            meter.update(second * 100)
        }
        meter.finish()
        #expect(
            transcript.error == "work: 12 %, 500 of 4,000 records, 100/s\nwork: 25 %, 1,000 of 4,000 records, 100/s\n"
        )
        #expect(transcript.output.isEmpty)
    }

    @Test func `on a terminal, progress is one line that is redrawn and cleared`() {
        let transcript = Transcript(isTerminal: true)
        var meter = ProgressMeter(
            "work",
            unit: "record",
            total: 100,
            console: transcript.console,
            elapsed: { .seconds(1) }
        )
        meter.update(50)
        meter.update(60)
        meter.finish()
        #expect(transcript.error.hasPrefix("\rwork [############............] 50 %"))
        #expect(!transcript.error.contains("60 %"), "nothing is drawn twice within a tenth of a second")
        #expect(transcript.error.hasSuffix("\r\u{1B}[K"))
        #expect(!transcript.error.contains("\n"))
    }

    @Test func `a table's columns line up, numbers to the right`() {
        var table = TextTable([.left, .right])
        table.add("a", "1", "x")
        table.add("bcd", "100", "yz")
        #expect(table.text == "a      1  x\nbcd  100  yz")
    }

    @Test(
        arguments: zip([0, 999, 1000, -1_234_567], ["0", "999", "1,000", "-1,234,567"])
    )
    func `large numbers are grouped`(number: Int, text: String) {
        #expect(number.grouped == text)
    }
}
