internal import CommandFrame
internal import Reports
internal import Settings
internal import Study

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
        let input = try EventsInput("rollout", arguments, configuration)
        let (registry, isDetailed) = (configuration.registry, input.isDetailed)
        try input.show(RolloutReport(registry, rule: rule, since: input.since, isDetailed: isDetailed), console)
        return ExitCode.done
    }
}
