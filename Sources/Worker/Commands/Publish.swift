internal import Kafka
internal import Pipeline

extension Command {
    static let publish = Command(
        name: "publish",
        summary: "write a capture's records onto the requests topic",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--input", "CAPTURE", "what kcat -C -J took, or simulate wrote; - for standard input", .required),
            .value("--rate", "R", "records per second; as fast as it goes where absent"),
        ],
        notes:
            "Keys, values and headers are published as they are; keys choose their partitions as Java clients do (murmur2)."
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let input = try arguments.required("--input")
        var options = CapturePublisher.Options()
        options.recordsPerSecond = try arguments.number("--rate", in: 0.001...10_000_000)
        let lines = try LineReader(path: input)
        var progress = ProgressMeter("publish", unit: "records", total: nil, console: console)
        var count = 0
        // A line that cannot be read ends the capture: what stood before it is sent and counted first.
        var badLine: CommandFault?
        let report: PublishReport
        do {
            let publisher = try CapturePublisher(
                properties: try configuration.brokerProperties(),
                topic: configuration.topics.requests,
                options: options
            )
            report = try publisher.publish {
                do throws(CommandFault) {
                    guard let line = try lines.next() else { return nil }
                    count += 1
                    progress.update(count)
                    return try Self.record(line, lines.lineNumber, of: input)
                } catch {
                    badLine = error
                    return nil
                }
            }
        } catch let fault as KafkaFault {
            throw CommandFault("cannot publish to \(configuration.topics.requests): \(fault).")
        }
        progress.finish()
        console.print("\(report.acknowledged.grouped) records acknowledged, \(report.failed.grouped) failed")
        if let badLine { throw badLine }
        guard !report.isComplete else { return ExitCode.done }
        throw CommandFault("not every record was acknowledged: \(report.firstFailure ?? "no reason was given").")
    }

    private static func record(_ line: [UInt8], _ number: Int, of input: String) throws(CommandFault) -> PublishRecord {
        do throws(CaptureCodec.Fault) {
            let record = try CaptureCodec.decode(line)
            return PublishRecord(key: record.key, value: record.value, headers: record.headers)
        } catch {
            throw CommandFault("\(input): line \(number) is no record of a capture: \(error.reason).")
        }
    }
}
