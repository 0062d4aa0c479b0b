internal import AppAttest
package import AppCheck
internal import Broker
internal import CommandFrame
internal import Pipeline
internal import Reports
internal import Run
package import Settings
internal import Streams
internal import Telemetry
internal import Threads

/// A replay: a capture through the pipeline, with every file it writes.
package struct ReplaySession {
    package struct Options: Sendable {
        /// Read in this order, as one capture.
        package var inputs: [String]
        package var output: String
        /// The configuration as the command named it.
        package var configuration: String
        package var keys: String?
        /// Whether tokens, artifacts and challenges are made.
        package var mints = false
        /// Whether lines that are not records are left out and counted, instead of ending the replay.
        package var skipsBadLines = false
        /// A file with a line for each record that is not accepted.
        package var explain: String?
        /// A file for the page of the report.
        package var report: String?
        /// Whether the report's facts are wanted as JSON.
        package var isJSON = false
        /// Results of an earlier replay that the report compares with.
        package var old: String?

        package init(inputs: [String], output: String, configuration: String) {
            (self.inputs, self.output, self.configuration) = (inputs, output, configuration)
        }

        var hasReport: Bool { report != nil || isJSON }
    }

    /// There are no transactions to pay for, so batches are small: a stage's output is still in the cache for the next.
    private static let batchRecords = 1024

    private let configuration: Configuration
    private let keys: KeyRings
    private let options: Options

    package init(_ configuration: Configuration, keys: KeyRings = KeyRings(), _ options: Options) {
        (self.configuration, self.keys, self.options) = (configuration, keys, options)
    }

    /// - Parameter report: called with the finished requests and, if known, the share of the captures that is done.
    package func run(report: (_ requests: Int, _ share: Double?) -> Void) throws -> ReplaySummary {
        let alarms = Locked<[String]>([])
        let rig = try LoopRig(configuration) { alarm in alarms.withLock { $0.append(alarm) } }
        let keyTable = try options.keys.map(KeyTable.read)
        var settings = configuration.pipelineSettings(keys)
        settings.sharesLedger = true
        settings.keepsValues = options.explain != nil || options.hasReport
        settings.exchange.mints = options.mints
        if options.mints {
            let library = try SigningChoice(configuration.engine).make(rig.engine, rig.watch) { alarm in
                alarms.withLock { $0.append(alarm) }
            }
            settings.exchange.signer = keys.tokens.signer(library)
        }
        settings.skipsBadLines = options.skipsBadLines
        let streams = try CaptureStreams(
            inputs: options.inputs,
            output: options.output,
            topics: configuration.topics.outputs
        )
        var loopOptions = BatchLoop.Options()
        loopOptions.batch = configuration.batch
        loopOptions.batch.records = min(configuration.batch.records, Self.batchRecords)
        let writer = try options.explain.map { path in
            let explainer = Explainer(settings: settings, anchors: try configuration.trustAnchors())
            return try ExplanationWriter(path, explainer: explainer)
        }
        let reporting = try options.hasReport ? ReplayReporting(options, settings, configuration.trustAnchors()) : nil
        let observers = [writer?.observer, reporting?.facts.observer].compactMap { $0 }
        if !observers.isEmpty { loopOptions.observer = { observation in for note in observers { note(observation) } } }
        let copies = SecondCopies(settings)
        loopOptions.isNew = { try copies.isNew($0) }
        let start = ContinuousClock.now
        let tally: LoopTally
        do {
            tally = try rig.replay(
                streams,
                settings,
                loopOptions,
                ledgers: [0: keyTable?.ledger ?? PartitionLedger()],
                // The file is read as soon as a batch leaves, so there is no need to poll in between.
                eagerPollMilliseconds: 100
            ) { report($0, streams.share(after: $0)) }.tally
        } catch let fault as CaptureFault {
            let place = streams.inputs.place(ofLine: fault.lineNumber)
            throw LeftOutLines.fault(place.path, place.line, fault.reason)
        }
        try streams.close()
        try writer?.close()
        let elapsed = ContinuousClock.now - start
        let name = options.inputs.count == 1 ? options.inputs[0] : "\(options.inputs.count) captures"
        var summary = ReplaySummary(
            tally: tally,
            warnings: alarms.withLock { $0 } + (keyTable?.unusable.warnings(of: options.keys ?? "") ?? [])
                + streams.cutLines.flatMap { LeftOutLines(cutLine: $0.line).warnings(of: $0.path) }
                + LeftOutLines(count: tally.skippedLines).warnings(of: name)
                + Self.warnings(repeated: tally.repeatedRecords) + copies.warnings + streams.timestamps.warnings,
            seconds: elapsed / .seconds(1),
            lanes: rig.count,
            engine: rig.engine.name,
            signatures: rig.meter.total,
            microsecondsPerSignature: rig.meter.microsecondsPerSignature
        )
        summary.report = try reporting?.write(summary)
        return summary
    }

    private static func warnings(repeated count: Int) -> [String] {
        guard count > 0 else { return [] }
        return ["left out \(count.counted("record", "that stands", "that stand")) in the captures for a second time"]
    }
}

/// `replay --report` and `--json`: counts while the replay runs, then writes the page.
struct ReplayReporting {
    let facts: ReplayFacts
    private let options: ReplaySession.Options
    private let file: OutputFile?

    init(
        _ options: ReplaySession.Options,
        _ settings: PipelineSettings,
        _ anchors: TrustAnchors
    ) throws(CommandFault) {
        self.options = options
        let outcomes = OutcomeList()
        let old = try options.old.map { path throws(CommandFault) in try Self.verdicts(path, outcomes) }
        let explainer = Explainer(settings: settings, anchors: anchors)
        facts = ReplayFacts(settings, explainer: explainer, outcomes: outcomes, old: old)
        file = try options.report.map { path throws(CommandFault) in try OutputFile(path, .whole) }
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
    func write(_ summary: ReplaySummary) throws -> [UInt8]? {
        var run = RunFacts(version: AttestWorker.version, configuration: options.configuration)
        run.captures = options.inputs.map { ($0, CaptureInputs.bytes(of: $0)) }
        (run.keys, run.old, run.mints) = (options.keys, options.old, options.mints)
        (run.seconds, run.lanes, run.engine) = (summary.seconds, summary.lanes, summary.engine)
        run.warnings = summary.warnings
        run.skippedLines = options.skipsBadLines ? summary.tally.skippedLines : nil
        let report = ReplayReport(facts: facts, run: run).report
        try file?.write(report.html)
        try file?.close()
        return options.isJSON ? report.json : nil
    }
}
