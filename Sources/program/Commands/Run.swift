internal import CommandFrame
internal import Run
internal import Settings

extension Command {
    static let run = Command(
        name: "run",
        summary: "consume requests and write results, until SIGTERM",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--instance", "NAME", "stable over restarts and unique in the group; the host's name where absent"),
            .engine,
            .flag("--check", or: "config", "validate configuration, broker and topics, then exit; config: no broker"),
        ],
        notes: "SIGTERM or SIGINT: commit the oldest batch in flight, exit 0. A second signal exits at once. "
            + "SIGHUP, or a changed file: apps.json and the keys are reloaded between two batches."
    ) { arguments, console in
        let session = try WorkerSession(
            directory: try arguments.required("--config"),
            instance: arguments.string("--instance"),
            engine: try arguments.engine(),
            isCheck: arguments.has("--check"),
            console: console
        )
        switch arguments.string("--check") {
        case nil: try session.run()
        case "config": try session.checkConfiguration()
        default: try session.check()
        }
        return ExitCode.done
    }
}
