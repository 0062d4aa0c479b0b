internal import AppCheck
internal import CommandFrame
internal import Settings

private let directory = Option.value("--config", "DIR", "the configuration directory", .required)
private let wait = Option.flag(
    "--wait",
    "wait for the result, \(OperatorWait.seconds) s at most; exit code 1 if it is not accepted"
)

extension Command {
    static let ban = Command(
        name: "ban",
        summary: "refuse a key or an installation until unban",
        options: [directory] + OperatorSubject.options + [
            .value("--until", "TIME", "its end: RFC 3339, milliseconds since 1970, +2h from now; else unban"),
            wait,
        ],
        notes: """
            The command goes to the requests topic, under a code that is made with the first sealing key of worker.json
            (the first challenge key where no sealing key is listed): every worker must have that key. A running worker
            applies it with its next batch, in order with the requests of the key; else the next one that starts does.
            Every request after it is refused as banned, redeliveries of accepted ones excepted. Attesting again does
            not lift a ban. Tokens that the device has stay valid until they expire.

            An installation's ban is written once for each partition. It concerns requests that carry that
            installation-id, and the ledger has only its hash.

            --until is judged by the times of the partition's requests, never by a clock. Of two bans of one key the
            last says when it ends. A worker of a version without --until refuses such a command as unknown-method.
            """
    ) { arguments, console in
        try OperatorAction(.ban, arguments).write(console)
    }

    static let unban = Command(
        name: "unban",
        summary: "lift the ban of a key or an installation",
        options: [directory] + OperatorSubject.options + [wait],
        notes: """
            As ban writes, so does unban. A key that is not banned stays as it is.
            """
    ) { arguments, console in
        try OperatorAction(.unban, arguments).write(console)
    }
}

extension Command {
    static let forget = Command(
        name: "forget",
        summary: "remove everything held of a key",
        options: [
            directory, .value("--key-id", "KEYID", "the key, as results name it", .required),
            .flag("--keep-ban", "keep a ban of the key, of which the ledger has only a hash"), wait,
        ],
        notes: """
            Written as ban does, and applied in order with the key's requests: the key's record with its counter, its
            times and its last request is removed from the ledger, in memory and on the topic, and so is a ban of the
            key. Afterwards the key is unknown-key until its device attests again. Where unknownKeys is restore, an
            assertion with the device's own artifact brings it back too; unknownKeys refuse, or a ban, prevents that.

            Requests, results, tokens, events and dead letters of the key stay on their topics until retention removes
            them, and exports that were made before keep their line of the key: delete them, or the line.
            """
    ) { arguments, console in
        try OperatorAction(.forget, arguments, keepsBan: arguments.has("--keep-ban")).write(console)
    }
}
