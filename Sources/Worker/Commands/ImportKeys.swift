internal import Broker
internal import Settings

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
            session.timeout.ms is over. All lines are read before anything is written. An import never weakens the
            ledger: counters only rise, and a key that the ledger has with another public key, app, Apple App ID or
            environment is left as it is; the command says so and exits 1. Importing the same file again changes
            nothing.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        guard let partitioner = configuration.partitioner.partitioner else {
            throw ConfigurationFault(
                "worker.json: partitioner is unchecked, so the partition of a key is unknown; set it to murmur2 or "
                    + "crc32, whichever the requests' producers use."
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
