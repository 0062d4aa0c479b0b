internal import AppCheck
internal import Broker
internal import CommandFrame
internal import Kafka
internal import KafkaPorts
internal import Run
internal import Settings
internal import Streams
internal import Study

extension Command {
    static let tail = Command(
        name: "tail",
        summary: "show results as they come",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .flag("--refused", "only what was not accepted"),
            .value("--app", "NAME", "only of this app: its name, its app ID, or projects/{number}/apps/{app id}"),
            .value("--reason", "REASON", "only with this reason"),
            .flag("--from-beginning", "the results that the topic has come first"),
        ],
        notes: """
            A line for each result: the time of its request, the app, the verb, the verdict with its reason, the
            beginning of the key ID; and what the reason means. 'attest-worker reasons REASON' says what to do.

            It reads the results topic and nothing else, in no group: workers do not notice. It ends with Ctrl-C.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let filter = try TailFilter(arguments, configuration.registry)
        let stopped = StopFlag()
        let shutdown = Shutdown { _ in stopped.set() }
        defer { shutdown.cancel() }
        let width = configuration.registry.apps.map { $0.title.oneLine.count }.max() ?? 1
        let tail = try ResultsTail(configuration, fromBeginning: arguments.has("--from-beginning"))
        while !stopped.isSet {
            for record in try tail.poll() where !stopped.isSet {
                guard let result = ShownResult(record, in: configuration.registry) else {
                    console.printError("warning: \(record.partition)/\(record.offset) of the topic is not a result")
                    continue
                }
                guard filter.shows(result) else { continue }
                try console.deliver(Array((result.line(in: configuration.registry, width: width) + "\n").utf8))
            }
        }
        return ExitCode.done
    }
}
