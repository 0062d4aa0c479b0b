extension Command {
    static let importKeys = Command(
        name: "import-keys",
        summary: "write the keys of a file into the ledger topic",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--input", "KEYS", "a JSON object per line, as export-keys writes; - for standard input", .required),
        ],
        notes: """
            Every worker of the group must have left: with static membership a stopped worker still counts until its
            session.timeout.ms is over. All lines are read before anything is written. What the ledger knows is never weakened:
            counters only rise, and a key that stands there with another public key, app, Apple App ID or environment is left
            as it is, with a line that says so and exit code 1. The same file once more changes nothing.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        guard let partitioner = configuration.partitioner.partitioner else {
            throw ConfigurationFault(
                "worker.json: partitioner is unchecked, so no key has a partition that it belongs on; set it to murmur2 or "
                    + "crc32, as the requests' producers use."
            )
        }
        var session = KeyImport(try LedgerAccess(configuration), partitioner: partitioner, console: console)
        let tally = try session.run(input: try arguments.required("--input"))
        console.print(
            "\(tally.lines.grouped) lines: \(tally.added.grouped) keys added, \(tally.updated.grouped) updated, "
                + "\(tally.unchanged.grouped) unchanged, \(tally.kept.grouped) left as they are"
        )
        return tally.kept == 0 ? ExitCode.done : ExitCode.failed
    }
}
