internal import AppCheck
internal import Broker
internal import CommandFrame
internal import Settings

/// Lines about letters that cannot be requeued; further ones are only counted.
private let shownLetters = 20

extension Command {
    static let requeue = Command(
        name: "requeue",
        summary: "take dead letters back onto the requests topic; plan first",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--reason", "REASON", "only letters with this dlq.reason, such as internal"),
            .value("--since", "TIME", "only letters written from then on"),
            .value("--limit", "N", "at most so many letters"),
            .flag("--yes", "carry out the plan; without it nothing is changed"),
        ],
        notes: """
            For after the cause is gone: a letter whose cause remains becomes a dead letter again. Key, value and
            headers are written as they were, without dlq.*; the key chooses the partition. A request without a
            request-id gets dlq.topic/partition/offset as one, which was its id. The time is the new record's own:
            objects, challenges and ages are judged by it.

            Each letter is requeued once, whatever fails in between: requests, and which letters they were, are in one
            transaction. The group group.id-requeue keeps that as its offsets, so the broker's
            offsets.retention.minutes must not be shorter than the retention of the dead letters. Letters whose value was
            left out (dlq.truncated) cannot be requeued. Workers may run.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let confirmed = arguments.has("--yes")
        let requeue = try Requeue(configuration, try DeadLetterChoice(arguments), writes: confirmed)
        requeue.print(to: console)
        guard requeue.total > 0 else {
            console.print("nothing to do")
            return ExitCode.done
        }
        guard confirmed else {
            console.print("nothing was changed; --yes carries out the plan")
            return ExitCode.done
        }
        let written = try ProgressMeter.during(
            "requeue",
            unit: "letter",
            state: "requeued",
            total: requeue.total,
            console: console
        ) { done in try requeue.perform(progress: done) }
        console.print("done: \(written.counted("letter")) requeued to \(requeue.requests)")
        return ExitCode.done
    }
}

extension DeadLetterChoice {
    fileprivate init(_ arguments: Arguments) throws(UsageFault) {
        self.init()
        since = try arguments.time("--since")
        limit = try arguments.integer("--limit", in: 1...Int.max)
        guard let name = arguments.string("--reason") else { return }
        reason = DeadLetterReason(rawValue: name)
        guard reason != nil else {
            let known = DeadLetterReason.allCases.map(\.rawValue)
            let names = known.joined(separator: ", ")
            throw UsageFault(
                "--reason must be one of \(names), not '\(name.printable)'\(Suggestion.ending(for: name, among: known))"
            )
        }
    }
}

extension Requeue {
    /// The plan.
    fileprivate func print(to console: Console) {
        var table = TextTable([.left, .right, .left, .left])
        table.add("reason", "letters", "oldest", "newest")
        for (reason, row) in rows.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            table.add(reason.rawValue, row.letters.grouped, TimeText.rfc3339(row.oldest), TimeText.rfc3339(row.newest))
        }
        console.print("dead letters \(topic), requests \(requests)")
        if total > 0 { console.print(table.text) }
        let history =
            hasHistory ? "\(done.counted("letter", "was", "were")) requeued before" : "no letter was requeued before"
        console.print(
            foreign == 0
                ? history
                : history + ", \(foreign.counted("record", "is not a dead letter", "are not dead letters")) of a worker"
        )
        for letter in truncated.prefix(shownLetters) {
            console.printError(
                "\(topic)/\(letter.partition)/\(letter.offset) cannot be requeued: its value was left out, and only "
                    + "\(letter.origin) has it"
            )
        }
        if truncated.count > shownLetters {
            console.printError("and \((truncated.count - shownLetters).grouped) more letters without a value")
        }
    }
}
