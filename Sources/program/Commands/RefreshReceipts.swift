internal import CommandFrame
internal import Refresher
internal import Settings

extension Command {
    static let refreshReceipts = Command(
        name: "refresh-receipts",
        summary: "exchanges receipts at Apple for the fraud risk metric",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--instance", "NAME", "the refresher's name in logs and groups; the host's name where absent"),
            .flag("--check", "validate files, topics, rights to read and the way to Apple, then exit"),
        ],
        notes: """
            Needs topics.receipts, the DeviceCheck keys of risk.keys and an app whose risk.mode is on; it reads no signing, \
            sealing or challenge key. SIGTERM or SIGINT: wait for calls under way, commit, exit 0. A second signal exits at \
            once. SIGHUP, or a changed file: reload.
            --check asks each of Apple's hosts for an answer, with neither receipt nor token: any answer will do. It does not \
            show whether requests may be written: Kafka tells that only to those who write.
            """
    ) { arguments, console in
        let session = try RefreshSession(
            directory: try arguments.required("--config"),
            instance: arguments.string("--instance") ?? HostName.current,
            console: console
        ) { try AppleCalls($0.configuration.risk) }
        try arguments.has("--check") ? session.check() : session.run()
        return ExitCode.done
    }
}
