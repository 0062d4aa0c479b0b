internal import AppCheck
internal import Settings

extension Command {
    static let forget = Command(
        name: "forget",
        summary: "remove everything held of a key",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--key-id", "KEYID", "the key, as results name it", .required),
            .flag("--keep-ban", "keep a ban of the key, of which the ledger has only a hash"),
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
        try OperatorDeed(.forget, arguments, keepsBan: arguments.has("--keep-ban")).write(console)
        return ExitCode.done
    }
}
