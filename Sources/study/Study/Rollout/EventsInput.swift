internal import Broker
package import CommandFrame
internal import Kafka
internal import KafkaPorts
package import Reports
package import Settings
internal import Streams

/// A report that a command makes of events.
package protocol EventsReport {
    /// - Parameter value: a record's of the events topic.
    mutating func add(_ value: [UInt8]?)
    /// How many events were read.
    var read: Int { get }
    /// Whether there was an event, of any time.
    var hasRead: Bool { get }
    /// Records that were not events.
    var unreadable: Int { get }
    var text: String { get }
    /// - Parameter source: where the events came from.
    func report(version: String, source: String) -> Report
}

/// Events of a capture, or of the events topic, for a command that reports on them.
package struct EventsInput {
    /// Events before this time are left out; milliseconds since 1970.
    package let since: Int64?
    private let command: String
    /// A capture, `-` for standard input; nil = the topic.
    private let path: String?
    /// The page's path as `--report` names it.
    private let page: String?
    private let isJSON: Bool
    private let skipsBadLines: Bool
    private let configuration: Configuration

    package init(_ command: String, _ arguments: Arguments, _ configuration: Configuration) throws(UsageFault) {
        (self.command, self.configuration) = (command, configuration)
        (path, page) = (arguments.string("--input"), arguments.string("--report"))
        (isJSON, skipsBadLines) = (arguments.has("--json"), arguments.has("--skip-bad-lines"))
        guard page != "-" || !isJSON else { throw UsageFault("--report - and --json cannot both be standard output.") }
        since = try arguments.time("--since")
    }

    /// Whether all is wanted that the page shows.
    package var isDetailed: Bool { page != nil || isJSON }

    private var topic: String? { configuration.topics.outputs[.events] }

    /// Reads the events, writes their report to its page and shows it, as text or JSON.
    ///
    /// - Throws: where a capture has no event at all: another file was meant.
    package func show(_ empty: some EventsReport, _ console: Console) throws {
        // Opened before the work: a path that cannot be written shows before a topic is read, not after it.
        let (file, name) = (try pageFile(), path ?? "the topic \(topic ?? "")")
        var report = empty
        var progress = ProgressMeter(command, unit: "event", total: nil, console: console)
        try read(console) { value in
            report.add(value)
            progress.update(report.read)
        }
        progress.finish()
        if let path, !report.hasRead {
            throw CommandFault(
                "\(path.printable) holds no event: --input takes a capture of the topic \(topic ?? "of events"), or "
                    + "events.ndjson of a replay."
            )
        }
        if report.unreadable > 0 {
            console.printError("warning: skipped because they are not events: \(report.unreadable.grouped)")
        }
        let shown = isDetailed ? report.report(version: AttestWorker.version, source: name) : nil
        if let shown {
            try file?.write(shown.html)
            try file?.close()
        }
        if page == "-" {
            console.printError(report.text)
        } else if let shown, isJSON {
            console.write(VisibleJSON.of(shown.json))
        } else {
            console.print(report.text)
        }
    }

    private func pageFile() throws -> OutputFile? {
        guard let page else { return nil }
        if page != "-", let path, path != "-", let read = FileStamp(path),
            FileStamp(page)?.isSameFile(as: read) == true
        {
            throw UsageFault("\(page.printable) is the file of --input and would be overwritten: name another one.")
        }
        return try OutputFile(page, .whole)
    }

    /// - Parameter body: called with each record's value.
    private func read(_ console: Console, _ body: ([UInt8]?) -> Void) throws {
        guard let path else { return try readTopic(body) }
        let lines = try CaptureLines(path: path, skipsBadLines: skipsBadLines)
        while let record = try lines.next() { body(record.value) }
        for warning in lines.warnings { console.printError("warning: \(warning)") }
    }

    /// How long without a record until the broker counts as gone: longer than a dead worker's transaction blocks.
    private static let timeBudget = Duration.seconds(75)

    /// Reads the topic from its oldest record to its end at the start: committed events only.
    ///
    /// - Throws: ``ConfigurationFault`` where the configuration has no broker that outlives a process.
    private func readTopic(_ body: ([UInt8]?) -> Void) throws {
        guard !configuration.embeddedBroker else {
            throw ConfigurationFault("worker.json: the embedded broker keeps no events: give --input.")
        }
        guard let topic else { throw ConfigurationFault("worker.json: no topic is set for events.") }
        let properties = KafkaProperties(try configuration.brokerProperties())
        do {
            try CommandFault.explaining("cannot read \(topic)", by: \.description) {
                let partitions = try PartitionCounts(Admin(properties)).count(of: topic)
                let reader = try TopicReader(properties, topic: topic)
                let scan = try TopicScan(reader, partitions: partitions, timeBudget: Self.timeBudget)
                let ends = try scan.ends()
                try scan.read(upTo: ends) { record in
                    if record.offset < ends[Int(record.partition)].high { body(record.value) }
                }
            }
        } catch is TopicScan.Standstill {
            throw CommandFault("\(topic) cannot be read to its end: a transaction is open, or the broker is away.")
        }
    }
}
