internal import Broker
internal import CommandFrame
internal import Pipeline
internal import Settings
internal import Streams

extension Command {
    static let reset = Command(
        name: "reset",
        summary: "move the group's offsets and forget the ledger, or keep it; plan first",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--partitions", "P,…", "only these, such as 3 or 0,2,5-7; all of them without it"),
            .flag("--offsets-only", "keep keys and ledger; set offsets, and the ledger's marks, to one of:"),
            .flag("--to-end", "after the newest request (the default without --offsets-only)"),
            .flag("--to-beginning", "to the oldest request: every request is judged and answered again"),
            .flag("--to-applied", "where the ledger says that its worker stopped"),
            .flag("--to-committed", "where the group's offset is"),
            .value("--to-offset", "N", "to this offset of each partition"),
            .flag("--yes", "carry out the plan; without it nothing is changed"),
        ],
        notes: """
            Every worker of the group must have left: with static membership a stopped worker still counts until its
            session.timeout.ms is over. Requests before the new offsets that were not judged yet are never judged. Keys,
            counters, bans, used challenges and used tokens are forgotten: devices must attest again. Wait for
            challenges.ttl and 5 minutes after the last worker has left, then reset to the end: a request counts by the
            time at which it was written, and one that was written earlier could use a challenge again. A token that was
            used up can be used once more. Run export-keys first to keep a copy, and ban again afterwards. Repeat a reset
            that was interrupted, and one that found a worker's new records: that one after the same wait.

            A worker holds a partition whose positions contradict each other, and logs which of these targets helps.
            With --offsets-only nothing is forgotten: requests that are judged again are refused by their counters, or
            answered as before if they were their key's last.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let confirmed = arguments.has("--yes")
        let reset = try ProgressMeter.during("reset", unit: "ledger record", state: "read", console: console) { done in
            let access = try LedgerAccess(configuration)
            return try LedgerReset(access, try ResetScope(arguments), writes: confirmed, progress: done)
        }
        console.print(reset.text)
        guard !reset.isDone else {
            console.print("nothing to do")
            return ExitCode.done
        }
        guard confirmed else {
            console.print("nothing was changed; --yes carries out the plan")
            return ExitCode.done
        }
        let keeps = reset.scope.keepsLedger
        let (unit, state) = keeps ? ("mark", "set") : ("ledger record", "forgotten")
        let written = try ProgressMeter.during(
            "reset",
            unit: unit,
            state: state,
            total: reset.total,
            console: console
        ) { done in try reset.perform(progress: done) }
        console.print("done: offsets moved, \(written.counted(unit)) \(state)\(keeps ? ", the ledger is kept" : "")")
        return ExitCode.done
    }
}

extension LedgerReset {
    /// The plan as a table.
    var text: String {
        func number(_ offset: Int64?) -> String { offset.map { Int($0).grouped } ?? "none" }
        var table = TextTable([.right, .right, .right, .right] + (scope.keepsLedger ? [.right] : []))
        if scope.keepsLedger {
            table.add("partition", "offset", "applied", "new offset", "ledger records kept")
        } else {
            table.add("partition", "offset", "new offset", "ledger records to forget")
        }
        for row in rows {
            let applied = scope.keepsLedger ? [number(row.mark?.position.appliedOffset)] : []
            let places = [number(row.offsets.committed)] + applied
            table.add([String(row.offsets.partition)] + places + [number(row.target), row.live.grouped])
        }
        return "group \(group), requests \(access.topics.requests), ledger \(access.topic)\n" + table.text
    }
}

extension ResetScope {
    private static let targets = ["--to-applied", "--to-committed", "--to-beginning", "--to-end", "--to-offset"]

    init(_ arguments: Arguments) throws(UsageFault) {
        self.init()
        keepsLedger = arguments.has("--offsets-only")
        partitions = try arguments.partitions()
        let given = Self.targets.filter { arguments.has($0) }
        guard given.count <= 1 else { throw UsageFault("\(given.joined(separator: " and ")) contradict each other.") }
        guard let name = given.first else {
            guard !keepsLedger else {
                throw UsageFault("--offsets-only needs one of \(Self.targets.joined(separator: ", ")).")
            }
            return
        }
        switch name {
        case "--to-beginning": target = .beginning
        case "--to-applied": target = .applied
        case "--to-committed": target = .committed
        case "--to-offset": target = .offset(Int64(try arguments.integer(name) ?? 0))
        default: target = .end
        }
        guard keepsLedger || target == .beginning || target == .end else {
            throw UsageFault("\(name) needs --offsets-only: without it only --to-beginning and --to-end are valid.")
        }
    }
}
