internal import Broker
internal import CommandFrame
internal import Settings

/// Lines about keys that an import leaves; further ones are only counted.
private let shownConflicts = 20

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
        var kept = 0
        let input = try arguments.required("--input")
        let access = try LedgerAccess(configuration)
        let keys = try KeyImport(access, partitioner: partitioner, input: input) { id, reason in
            kept += 1
            if kept <= shownConflicts { console.printError("key \(id.text) is left as it is: \(reason)") }
        }
        if kept > shownConflicts {
            console.printError("and \((kept - shownConflicts).grouped) more keys are left as they are")
        }
        for line in keys.unusable.warnings(of: input) { console.printError("warning: \(line)") }
        try ProgressMeter.during("import-keys", unit: "key", total: keys.total, console: console) { done in
            try keys.perform(progress: done)
        }
        let tally = keys.tally
        console.print(
            "\(tally.lines.counted("line")): \(tally.added.counted("key")) added, \(tally.updated.grouped) updated, "
                + "\(tally.unchanged.grouped) unchanged, \(tally.kept.grouped) left as they are"
                + (tally.addedUnusable == 0 ? "" : ", \(tally.addedUnusable.grouped) added that can never verify")
        )
        return tally.kept == 0 ? ExitCode.done : ExitCode.failed
    }
}
