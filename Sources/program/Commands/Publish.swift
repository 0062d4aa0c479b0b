internal import Broker
internal import CommandFrame
internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Settings
internal import Streams
internal import Study

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
        let trouble = "cannot publish to \(configuration.topics.requests)"
        var sending = Publishing(lines: lines, console: console)
        let report = try CommandFault.explaining(trouble, by: \.description) {
            try sending.run(properties: try configuration.brokerProperties(), configuration.topics.requests, options)
        }
        for warning in lines.warnings { console.printError("warning: \(warning)") }
        console.print("\(report.acknowledged.counted("record")) acknowledged, \(report.failed.grouped) failed")
        if let badLine = sending.badLine { throw badLine }
        if sending.wasStopped { throw CommandFault(Publishing.stopped(acknowledged: report.acknowledged)) }
        guard !report.isComplete else { return ExitCode.done }
        throw CommandFault("not every record was acknowledged: \(report.firstFailure ?? "no reason was given").")
    }
}
