package import CommandFrame
package import Reports
package import Settings
internal import Streams

/// Events of a capture, or of the events topic: what commands read that report about devices.
package struct EventsInput {
    /// A capture, `-` for standard input; nil = the topic.
    let path: String?
    private let configuration: Configuration
    private let skipsBadLines: Bool

    package init(_ arguments: Arguments, _ configuration: Configuration) {
        path = arguments.string("--input")
        skipsBadLines = arguments.has("--skip-bad-lines")
        self.configuration = configuration
    }

    /// The source as people read it.
    package var name: String { path ?? "the topic \(topic ?? "")" }

    private var topic: String? { configuration.topics.outputs[.events] }

    /// - Parameter body: called with each record's value.
    package func read(_ console: Console, _ body: ([UInt8]?) -> Void) throws {
        guard let path else { return try EventsTopic(configuration).read(body) }
        let lines = try CaptureLines(path: path, skipsBadLines: skipsBadLines)
        while let record = try lines.next() { body(record.value) }
        for warning in lines.warnings { console.printError("warning: \(warning)") }
    }

    /// - Throws: where a capture has no event at all: another file was meant.
    package func check(hasEvents: Bool) throws(CommandFault) {
        guard let path, !hasEvents else { return }
        throw CommandFault(
            "\(path.printable) holds no event: --input takes a capture of the topic \(topic ?? "of events"), or "
                + "events.ndjson of a replay."
        )
    }

    /// Opens the page before the work: a path that cannot be written shows before a topic is read, not after it.
    package func page(at path: String?) throws -> OutputFile? {
        guard let path else { return nil }
        if path != "-", let input = self.path, input != "-", let read = FileStamp(input),
            FileStamp(path)?.isSameFile(as: read) == true
        {
            throw UsageFault("\(path.printable) is the file of --input and would be overwritten: name another one.")
        }
        return try OutputFile(path, .whole)
    }

    /// Writes a report to its page and shows it, as text or JSON.
    ///
    /// - Parameters:
    ///   - unreadable: how many records were not events.
    ///   - page: the page's path as `--report` names it.
    package func show(
        _ text: @autoclosure () -> String,
        _ report: @autoclosure () -> Report,
        unreadable: Int,
        page: String?,
        in file: OutputFile?,
        asJSON: Bool,
        _ console: Console
    ) throws {
        if unreadable > 0 {
            console.printError("warning: skipped because they are not events: \(unreadable.grouped)")
        }
        lazy var shown = report()
        if let file {
            try file.write(shown.html)
            try file.close()
        }
        if page == "-" {
            console.printError(text())
        } else if asJSON {
            console.write(VisibleJSON.of(shown.json))
        } else {
            console.print(text())
        }
    }
}
