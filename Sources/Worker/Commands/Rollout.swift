internal import Log
internal import Pipeline
internal import Settings

extension Command {
    static let rollout = Command(
        name: "rollout",
        summary: "per app: successes, failures by reason, not admitted, and whether the share may grow",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--input", "EVENTS", "a capture of the events topic; - for standard input; the topic where absent"),
            .value("--min", "N", "attestations that must be decided at the present share (200)"),
            .value("--max-failure-rate", "PERCENT", "how many of them may have failed (1)"),
            .flag("--skip-bad-lines", "skip and count lines of --input that are not records"),
            .flag("--json", "one JSON object instead of the table"),
        ],
        notes: """
            Without --input the command reads all committed events that the broker still holds. Failure rates are shares
            of the decided exchanges; devices that were not admitted do not count. A share may grow if the rollout is on
            or shadow and below 100 %, at least N attestations were decided at it (events of other shares are ignored)
            and few of them failed. Assertions count as successes and failures, but do not decide about growth.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        var rule = GrowthRule()
        rule.minAttestations = try arguments.integer("--min", in: 1...1_000_000_000) ?? rule.minAttestations
        rule.maxFailureRate = try arguments.number("--max-failure-rate", in: 0...100) ?? rule.maxFailureRate
        var report = RolloutReport(configuration.registry, rule: rule)
        var progress = ProgressMeter("rollout", unit: "events", total: nil, console: console)
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
        if report.unreadable > 0 {
            console.printError("warning: skipped because they are not events: \(report.unreadable.grouped)")
        }
        if arguments.has("--json") { console.write(report.json) } else { console.print(report.text) }
        return ExitCode.done
    }
}
