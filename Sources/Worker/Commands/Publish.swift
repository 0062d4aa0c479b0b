internal import Broker
internal import Kafka
internal import Log
internal import Pipeline
internal import Settings

extension Command {
    static let publish = Command(
        name: "publish",
        summary: "write a capture's records to the requests topic",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--input", "CAPTURE", "a capture of kcat -C -J or simulate; - for standard input", .required),
            .value("--rate", "R", "records per second (unlimited)"),
            .flag("--skip-bad-lines", "skip and count lines that are not records"),
        ],
        notes:
            "Keys, values and headers are published as they are; keys choose their partitions as Java clients do (murmur2)."
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let input = try arguments.required("--input")
        var options = CapturePublisher.Options()
        options.recordsPerSecond = try arguments.number("--rate", in: 0.001...10_000_000)
        let lines = try CaptureLines(path: input, skipsBadLines: arguments.has("--skip-bad-lines"))
        var progress = ProgressMeter("publish", unit: "records", total: nil, console: console)
        var count = 0
        // A line that cannot be read ends the capture: the records before it are sent and counted first.
        var badLine: CommandFault?
        let trouble = "cannot publish to \(configuration.topics.requests)"
        let report = try CommandFault.explaining(trouble, by: \.description) {
            let publisher = try CapturePublisher(
                properties: try configuration.brokerProperties(),
                topic: configuration.topics.requests,
                options: options
            )
            return try publisher.publish {
                do throws(CommandFault) {
                    guard let record = try lines.next() else { return nil }
                    count += 1
                    progress.update(count)
                    return PublishRecord(key: record.key, value: record.value, headers: record.headers)
                } catch {
                    badLine = error
                    return nil
                }
            }
        }
        progress.finish()
        for warning in lines.warnings { console.printError("warning: \(warning)") }
        console.print("\(report.acknowledged.grouped) records acknowledged, \(report.failed.grouped) failed")
        if let badLine { throw badLine }
        guard !report.isComplete else { return ExitCode.done }
        throw CommandFault("not every record was acknowledged: \(report.firstFailure ?? "no reason was given").")
    }
}
