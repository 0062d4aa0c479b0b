internal import AppAttest
internal import CommandFrame
internal import Pipeline
internal import Reports
internal import Settings
internal import Streams

extension ReplaySession {
    package struct ReportOptions: Sendable {
        /// The file of the page; nil = no page is wanted.
        package var path: String?
        /// Whether the facts are wanted as JSON.
        var isJSON: Bool
        /// The configuration as the command named it.
        var configuration: String
        var version: String
        /// Results of an earlier replay to compare with.
        package var old: String?

        package init(path: String? = nil, isJSON: Bool, configuration: String, version: String, old: String? = nil) {
            (self.path, self.isJSON, self.configuration, self.version, self.old) = (
                path, isJSON, configuration, version, old
            )
        }
    }
}

/// `replay --report` and `--json`: counts while the replay runs, then writes the page.
struct ReplayReporting {
    let facts: ReplayFacts
    private let options: ReplaySession.ReportOptions
    private let file: OutputFile?

    init(
        _ options: ReplaySession.ReportOptions,
        _ settings: PipelineSettings,
        _ anchors: TrustAnchors
    ) throws(CommandFault) {
        self.options = options
        let outcomes = OutcomeList()
        let old = try options.old.map { path throws(CommandFault) in try Self.verdicts(path, outcomes) }
        let explainer = Explainer(settings: settings, anchors: anchors)
        facts = ReplayFacts(settings, explainer: explainer, outcomes: outcomes, old: old)
        file = try options.path.map { path throws(CommandFault) in try OutputFile(path, .whole) }
    }

    /// - Parameter path: results.ndjson of a replay, or a capture of the results topic.
    private static func verdicts(_ path: String, _ outcomes: OutcomeList) throws(CommandFault) -> OldVerdicts {
        var verdicts = OldVerdicts()
        let lines = try CaptureLines(path: path, skipsBadLines: false)
        while let record = try lines.next() { verdicts.add(record.value, outcomes) }
        guard verdicts.count > 0 else {
            throw CommandFault("\(path) has no results: --diff takes results.ndjson of an earlier replay.")
        }
        return verdicts
    }

    /// - Returns: the facts as JSON, if they are wanted.
    func write(_ replay: ReplaySession.Options, _ summary: ReplaySummary) throws -> [UInt8]? {
        var run = RunFacts(version: options.version, configuration: options.configuration)
        run.captures = replay.inputs.map { ($0, CaptureInputs.bytes(of: $0)) }
        (run.keys, run.old, run.mints) = (replay.keys, options.old, replay.mints)
        (run.seconds, run.lanes, run.engine) = (summary.seconds, summary.lanes, summary.engine)
        run.warnings = summary.warnings
        run.skippedLines = replay.skipsBadLines ? summary.tally.skippedLines : nil
        let report = ReplayReport(facts: facts, run: run).report
        try file?.write(report.html)
        try file?.close()
        return options.isJSON ? report.json : nil
    }
}
