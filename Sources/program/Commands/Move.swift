internal import Broker
internal import CommandFrame
internal import Crypto
internal import Settings

extension Command {
    static let move = Command(
        name: "move",
        summary: "take the ledger to topics with another number of partitions",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--to", "NEW", "that of the new topics, on the same cluster or another one", .required),
            .flag("--leave-requests", "move although requests are unread: no worker will judge them"),
            .flag("--yes", "carry out the plan; without it nothing is changed"),
        ],
        notes: """
            NEW is a copy of DIR with other topic names, or another broker; make its topics with create-topics first, with
            the wanted number of partitions. Keys, counters, bans, used challenges and used tokens come along: nothing that
            was used is accepted again. Every worker must have left both groups, and all requests must be judged, unless
            partitions were added and the workers hold theirs: --leave-requests then leaves the rest to the devices, which
            ask again.

            From then on workers hold the old topics' partitions. Repeat a move that was interrupted. The receipts topic is
            not moved: a key's receipt comes there when it attests again.
            """
    ) { arguments, console in
        let source = try Configuration.load(directory: try arguments.required("--config"))
        let target = try Configuration.load(directory: try arguments.required("--to"))
        let move = try ProgressMeter.during("move", unit: "ledger record", state: "read", console: console) { done in
            let (old, new) = (try LedgerAccess(source), try LedgerAccess(target))
            return try LedgerMove(old, to: new, identity: SecureRandom.bytes(16), progress: done)
        }
        guard !move.isDone else {
            console.print("nothing to do: \(move.target.topic) has the keys already")
            return ExitCode.done
        }
        console.print(try move.plan())
        let unread = move.unread.values.reduce(0, +)
        guard unread == 0 || arguments.has("--leave-requests") else {
            throw CommandFault(
                "\(unread.counted("request")) of \(move.source.topics.requests) are unread: let workers judge them first; where these "
                    + "hold their partitions, --leave-requests leaves them."
            )
        }
        guard arguments.has("--yes") else {
            console.print("nothing was changed; --yes carries out the plan")
            return ExitCode.done
        }
        try ProgressMeter.during("move", unit: "ledger record", state: "written", console: console) { done in
            try move.perform(progress: done)
        }
        // The move is complete, whatever a broker answers now.
        let grown = (try? move.grown()) ?? []
        if !grown.isEmpty {
            console.print(
                "requests came to \(grown.count.counted("partition")) of \(move.source.topics.requests) meanwhile: no worker will "
                    + "judge them, devices ask again; point producers at the new topics"
            )
        }
        console.print("done: start workers and gateways with the new configuration; the old partitions are held")
        return ExitCode.done
    }
}
