extension Command {
    static let reset = Command(
        name: "reset",
        summary: "move the group to the end of the requests and forget the ledger; plan first",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .flag("--to-beginning", "to the oldest request instead: every request is judged and answered once more"),
            .flag("--yes", "do what the plan says; without it nothing is changed"),
        ],
        notes: """
            Every worker of the group must have left: with static membership a stopped worker still counts until its
            session.timeout.ms is over. Requests before the new offsets that were not judged yet never will be. Keys, counters
            and used challenges are forgotten: devices must attest again, and where artifacts restore keys (unknownKeys), wait
            for challenges.ttl before the workers start, or an assertion of a moment ago could be accepted once more.
            export-keys first keeps a copy. A reset that was interrupted is repeated.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let confirmed = arguments.has("--yes")
        let reset = try LedgerReset(
            try LedgerAccess(configuration),
            toBeginning: arguments.has("--to-beginning"),
            writes: confirmed,
            console: console
        )
        console.print(reset.text)
        guard !reset.isDone else {
            console.print("nothing to do")
            return ExitCode.done
        }
        guard confirmed else {
            console.print("nothing was changed; --yes does it")
            return ExitCode.done
        }
        let forgotten = try reset.perform(console: console)
        console.print("done: offsets moved, \(forgotten.grouped) ledger records forgotten")
        return ExitCode.done
    }
}
