internal import Pipeline
internal import Reports
internal import Settings
internal import Streams

extension Command {
    static let rollout = Command(
        name: "rollout",
        summary: "per app: successes, failures by reason, not admitted, and whether the share may grow",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--input", "EVENTS", "a capture of the events topic; - for standard input; the topic where absent"),
            .value("--min", "N", "attestations that must be decided at the present share (200)"),
            .value("--max-failure-rate", "PERCENT", "how many of them may have failed (1)"),
            .value("--since", "TIME", "leave out events before this time"),
            .value(
                "--report",
                "FILE",
                "write the state of the rollout as one HTML page as well; - for standard output"
            ),
            .flag("--skip-bad-lines", "skip and count lines of --input that are not records"),
            .flag("--json", "one JSON object instead of the table, with all that the page of --report shows"),
        ],
        notes: """
            Without --input the command reads all committed events that the broker still holds. Failure rates are shares
            of the decided exchanges; devices that were not admitted do not count. A share may grow if the rollout is on
            or shadow and below 100 %, at least N attestations were decided at it (events of other shares are ignored)
            and few of them failed; its steps are 1, 5, 10, 25, 50 and 100 %. Assertions count as successes and
            failures, but do not decide about growth. A file without an event ends the command with exit code 1.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        var rule = GrowthRule()
        rule.minAttestations = try arguments.integer("--min", in: 1...1_000_000_000) ?? rule.minAttestations
        rule.maxFailureRate = try arguments.number("--max-failure-rate", in: 0...100) ?? rule.maxFailureRate
        guard arguments.string("--report") != "-" || !arguments.has("--json") else {
            throw UsageFault("--report - and --json cannot both be standard output.")
        }
        let (since, page) = (try arguments.time("--since"), arguments.string("--report"))
        if let page { try keepWhatIsRead(arguments.string("--input"), page) }
        // Opened before the work: a path that cannot be written shows before a topic is read, not after it.
        let file = try page.map { path throws(CommandFault) in try OutputFile(path, .whole) }
        let isDetailed = page != nil || arguments.has("--json")
        var report = RolloutReport(configuration.registry, rule: rule, since: since, isDetailed: isDetailed)
        var progress = ProgressMeter("rollout", unit: "event", total: nil, console: console)
        func add(_ value: [UInt8]?) {
            report.add(value)
            progress.update(report.events)
        }
        if let input = arguments.string("--input") {
            let lines = try CaptureLines(path: input, skipsBadLines: arguments.has("--skip-bad-lines"))
            while let record = try lines.next() { add(record.value) }
            for warning in lines.warnings { console.printError("warning: \(warning)") }
        } else {
            try EventsTopic(configuration).read(add)
        }
        progress.finish()
        if let input = arguments.string("--input"), !report.hasRead {
            throw CommandFault(
                "\(input.printable) holds no event: --input takes a capture of the topic "
                    + "\(configuration.topics.outputs[.events] ?? "of events"), or events.ndjson of a replay."
            )
        }
        if report.unreadable > 0 {
            console.printError("warning: skipped because they are not events: \(report.unreadable.grouped)")
        }
        let source = arguments.string("--input") ?? "the topic \(configuration.topics.outputs[.events] ?? "")"
        lazy var shown = report.report(version: AttestWorker.version, source: source)
        if let file {
            try file.write(shown.html)
            try file.close()
        }
        if page == "-" {
            console.printError(report.text)
        } else if arguments.has("--json") {
            console.write(VisibleJSON.of(shown.json))
        } else {
            console.print(report.text)
        }
        return ExitCode.done
    }

    private static func keepWhatIsRead(_ input: String?, _ page: String) throws(UsageFault) {
        guard page != "-", let input, input != "-", let read = FileStamp(input),
            FileStamp(page)?.isSameFile(as: read) == true
        else { return }
        throw UsageFault("\(page.printable) is the file of --input and would be overwritten: name another one.")
    }
}
