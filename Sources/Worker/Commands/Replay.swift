internal import Settings

extension Command {
    static let replay = Command(
        name: "replay",
        summary: "judge a capture as the worker would, without a broker",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value(
                "--input",
                "CAPTURE",
                "a capture of the requests topic (kcat -C -J); - for standard input",
                .required
            ),
            .value(
                "--keys",
                "KEYS",
                "the keys known before the first record, a JSON object per line; - for standard input"
            ),
            .value("--output", "DIR", "where results.ndjson and the other files are written", .required),
            .value("--lanes", "N", "lanes to verify on instead of the configured number"),
            .engine,
            .flag("--mint", "make tokens, artifacts and challenges too, as of the records' own times"),
            .value("--summary", "FILE", "write the counts as JSON as well; - for standard output"),
            .flag("--skip-bad-lines", "skip and count lines that are not records"),
        ],
        notes: """
            Writes results.ndjson, tokens.ndjson, events.ndjson and dead-letters.ndjson into the output directory, each line
            a record as kcat prints it. Files that are there are overwritten. The same capture gives the same bytes
            (tokens signed with ES256 excepted). Without --mint exchanges are judged and tokens.ndjson stays empty; then key
            files that worker.json names may be absent: only requests that need an absent key are deferred.
            A last line that is cut off is skipped with a warning; any other line that is not a record ends the replay,
            unless --skip-bad-lines is given.
            """
    ) { arguments, console in
        let loaded = try LoadedConfiguration.load(
            directory: try arguments.required("--config"),
            absentKeys: arguments.has("--mint") ? .refused : .tolerated
        )
        if let line = loaded.keys.absenceWarning { console.printError("warning: \(line)") }
        var configuration = loaded.configuration
        if let lanes = try arguments.integer("--lanes", in: 1...1024) { configuration.lanes = lanes }
        if let engine = try arguments.engine() { configuration.engine.use = engine }
        var options = ReplaySession.Options(
            input: try arguments.required("--input"),
            output: try arguments.required("--output"),
            keys: arguments.string("--keys")
        )
        options.mints = arguments.has("--mint")
        options.skipsBadLines = arguments.has("--skip-bad-lines")
        let summaryPath = arguments.string("--summary")
        try keepWhatIsRead(options, summary: summaryPath)
        // Opened before the work: a path that cannot be written shows before an hour of work, not after it.
        let summaryFile = try summaryPath.map { path throws(CommandFault) in try OutputFile(path, .whole) }
        let session = ReplaySession(configuration, keys: loaded.keys.rings, options)
        var progress = ProgressMeter("replay", unit: "records", total: nil, console: console)
        let summary = try session.run { requests, share in progress.update(requests, share: share) }
        progress.finish()
        for warning in summary.warnings { console.printError("warning: \(warning)") }
        // Standard output is either for people or for tools.
        if summaryPath == "-" { console.printError(summary.text) } else { console.print(summary.text) }
        try summaryFile?.write(summary.json)
        try summaryFile?.close()
        return ExitCode.done
    }

    /// A capture cannot be recorded again: an input file is never an output file too.
    private static func keepWhatIsRead(_ options: ReplaySession.Options, summary: String?) throws(UsageFault) {
        guard options.input != "-" || options.keys != "-" else {
            throw UsageFault("--input and --keys cannot both be standard input.")
        }
        let written = CaptureLog.paths(in: options.output) + (summary.map { [$0] } ?? [])
        for (option, path) in [("--input", options.input), ("--keys", options.keys ?? "-")] where path != "-" {
            guard let read = FileStamp(path),
                let same = written.first(where: { FileStamp($0)?.isSameFile(as: read) == true })
            else { continue }
            throw UsageFault("\(same.printable) is the file of \(option) and would be overwritten: name another one.")
        }
    }
}
