internal import CommandFrame
internal import Reports
internal import Settings
internal import Study

extension Command {
    static let risk = Command(
        name: "risk",
        summary: "per app: how Apple's fraud risk metric is distributed, its change in a week, the highest keys",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--input", "EVENTS", "a capture of the events topic; - for standard input; the topic where absent"),
            .value("--above", "N", "the limit of apps without risk.above (5)"),
            .value("--since", "TIME", "leave out events before this time"),
            .value("--report", "FILE", "write one HTML page as well; - for standard output"),
            .flag("--skip-bad-lines", "skip and count lines of --input that are not records"),
            .flag("--json", "one JSON object instead of the table, with all that the page of --report shows"),
        ],
        notes: """
            Without --input the command reads all committed events that the broker still holds. A key counts once,
            with its newest metric, until 30 days before the newest event; a week before means a week before that
            event. One device may be many keys. A limit that is exceeded says little alone: watch how the share changes. A file without an event ends the command with exit code 1.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let limit = try arguments.integer("--above", in: 1...Int(UInt16.max)).map { UInt16(clamping: $0) }
        let input = try EventsInput("risk", arguments, configuration)
        try input.show(RiskReport(configuration.registry, limit: limit, since: input.since), console)
        return ExitCode.done
    }
}
