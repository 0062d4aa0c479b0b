internal import CommandFrame
internal import Run
internal import Settings

extension Command {
    static let gateway = Command(
        name: "gateway",
        summary: "HTTP for Google's clients in front of the topics",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--instance", "NAME", "the gateway's name in logs and at the broker; the host's name where absent"),
            .flag("--check", "validate the configuration and the gateway's files, then exit"),
        ],
        notes: """
            Needs apps.json, the challenge keys and the public key set; it reads no signing and no sealing key. SIGTERM or \
            SIGINT: answer open calls, exit 0. A second signal exits at once. SIGHUP, or a changed file: reload.
            """
    ) { arguments, console in
        let session = try GatewaySession(
            directory: try arguments.required("--config"),
            instance: arguments.string("--instance") ?? HostName.current,
            console: console
        )
        guard !arguments.has("--check") else {
            for line in session.warnings { console.printError("warning: \(line)") }
            try session.checkHasApp()
            console.print("the gateway's configuration and files are in order; no broker was asked")
            return ExitCode.done
        }
        try session.run()
        return ExitCode.done
    }
}
