internal import CommandFrame
internal import Settings
internal import Study

extension Command {
    static let replay = Command(
        name: "replay",
        summary: "judge a capture as the worker would, without a broker",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value(
                "--input",
                "CAPTURE",
                "a capture of the requests topic (kcat -C -J), plain, gzip or zstd; - for standard input; required",
                .repeatable
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
            .value("--explain", "FILE", "write a line for each record not accepted: why; - for standard output"),
            .value("--report", "FILE", "write what the replay found as one HTML page; - for standard output"),
            .flag("--json", "one JSON object instead of the table: all that the page of --report shows"),
            .value("--diff", "RESULTS", "with --report or --json: compare with results.ndjson of an earlier replay"),
            .flag("--skip-bad-lines", "skip and count lines that are not records"),
            .runPrograms,
        ],
        operands: .init(
            "[CAPTURE]...",
            count: 0...100_000,
            summary: "further captures, such as the shell makes of a pattern"
        ),
        notes: """
            Several captures are read in the given order, as one: first those of --input, then the
            further ones.
            Writes results.ndjson, tokens.ndjson, events.ndjson and dead-letters.ndjson into the output
            directory, each line a record as kcat prints it. Files that are there are overwritten. The same
            capture gives the same bytes (tokens signed with ES256 excepted). Without --mint exchanges are
            judged and tokens.ndjson stays empty; then key files that worker.json names may be absent: only
            requests that need an absent key are deferred.
            --explain writes JSON: the record, the reason, what its object has, and the values presented and
            expected. 'inspect --input CAPTURE --record P/O' explains one record in full.
            --report writes a page that needs nothing else, without a token, artifact or challenge in it; --json
            prints its facts. With --diff both say which verdicts changed, such as after a change of apps.json.
            A last line that is cut off is skipped with a warning; any other line that is not a record ends
            the replay, unless --skip-bad-lines is given.
            """
    ) { arguments, console in
        let loaded = try LoadedConfiguration.load(
            directory: try arguments.required("--config"),
            absentKeys: arguments.has("--mint") ? .refused : .tolerated,
            runsPrograms: arguments.has("--run-programs")
        )
        if let line = loaded.keys.absenceWarning { console.printError("warning: \(line)") }
        var configuration = loaded.configuration
        if let lanes = try arguments.integer("--lanes", in: 1...1024) { configuration.lanes = lanes }
        if let engine = try arguments.engine() { configuration.engine.use = engine }
        var options = ReplaySession.Options(
            inputs: try Self.inputs(arguments),
            output: try arguments.required("--output"),
            configuration: try arguments.required("--config")
        )
        options.keys = arguments.string("--keys")
        options.mints = arguments.has("--mint")
        options.skipsBadLines = arguments.has("--skip-bad-lines")
        options.explain = arguments.string("--explain")
        (options.report, options.isJSON) = (arguments.string("--report"), arguments.has("--json"))
        options.old = try Self.old(arguments)
        let summaryPath = arguments.string("--summary")
        let onOutput = [
            ("--summary", summaryPath), ("--explain", options.explain), ("--report", options.report),
            ("--json", options.isJSON ? "-" : nil),
        ]
        .filter { $0.1 == "-" }.map(\.0)
        guard onOutput.count < 2 else {
            throw UsageFault("\(onOutput[0]) and \(onOutput[1]) cannot both be standard output.")
        }
        try keepWhatIsRead(options, summary: summaryPath)
        // Opened before the work: a path that cannot be written shows before an hour of work, not after it.
        let summaryFile = try summaryPath.map { path throws(CommandFault) in
            try Self.summaryFile(path, output: options.output)
        }
        let session = ReplaySession(configuration, keys: loaded.keys.rings, options)
        var progress = ProgressMeter("replay", unit: "record", total: nil, console: console)
        let summary = try session.run { requests, share in progress.update(requests, share: share) }
        progress.finish()
        for warning in summary.warnings { console.printError("warning: \(warning)") }
        // Standard output is either for people or for tools.
        if !onOutput.isEmpty {
            console.printError(summary.text)
        } else {
            console.print(summary.text)
        }
        if let facts = summary.report { console.write(VisibleJSON.of(facts)) }
        try summaryFile?.write(summary.json)
        try summaryFile?.close()
        return ExitCode.done
    }

    /// It may stand in the folder of the output, which is made for it; without it, that folder is not left behind.
    private static func summaryFile(_ path: String, output: String) throws(CommandFault) -> OutputFile {
        guard path != "-", FileStamp(output) == nil else { return try OutputFile(path, .whole) }
        try CaptureStreams.makeFolder(output)
        do throws(CommandFault) { return try OutputFile(path, .whole) } catch {
            Folder.removeEmpty(output)
            throw error
        }
    }

    private static func old(_ arguments: Arguments) throws(UsageFault) -> String? {
        guard let path = arguments.string("--diff") else { return nil }
        guard arguments.has("--report") || arguments.has("--json") else {
            throw UsageFault("--diff needs --report FILE or --json, which show what changed.")
        }
        guard path != "-" else { throw UsageFault("--diff takes a file, not standard input.") }
        return path
    }

    private static func inputs(_ arguments: Arguments) throws(UsageFault) -> [String] {
        let paths = arguments.strings("--input") + arguments.operands
        guard !paths.isEmpty else { throw UsageFault("replay: --input CAPTURE is required.") }
        guard paths.count(where: { $0 == "-" }) < 2 else {
            throw UsageFault("standard input is named twice: name it once.")
        }
        return paths
    }

    /// A capture cannot be recorded again: an input file is never an output file too.
    private static func keepWhatIsRead(_ options: ReplaySession.Options, summary: String?) throws(UsageFault) {
        guard !options.inputs.contains("-") || options.keys != "-" else {
            throw UsageFault("--input and --keys cannot both be standard input.")
        }
        let written =
            CaptureStreams.paths(in: options.output)
            + [summary, options.explain, options.report].compactMap(\.self)
        let named = written.filter { $0 != "-" }
        guard Set(named).count == named.count else {
            throw UsageFault("two of the files to be written have one name: give each its own.")
        }
        let inputs = options.inputs.map { ("--input", $0) }
        let others = [("--keys", options.keys ?? "-"), ("--diff", options.old ?? "-")]
        for (option, path) in inputs + others where path != "-" {
            guard let read = FileStamp(path),
                let same = written.first(where: { FileStamp($0)?.isSameFile(as: read) == true })
            else { continue }
            throw UsageFault("\(same.printable) is the file of \(option) and would be overwritten: name another one.")
        }
    }
}
