internal import AppAttest
package import AppCheck
internal import Broker
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
        package var keys: String?
        /// Whether tokens, artifacts and challenges are made.
        package var mints = false
        /// Whether lines that are not records are left out and counted, instead of ending the replay.
        package var skipsBadLines = false
        /// A file with a line for each record that is not accepted.
        package var explain: String?
        package var report: ReportOptions?
        package init(inputs: [String], output: String, keys: String? = nil) {
            self.inputs = inputs
            self.output = output
            self.keys = keys
        }
    }

    /// There are no transactions to pay for, so batches are small: a stage's output is still in the cache for the next.
    private static let batchRecords = 1024

    private let configuration: Configuration
    private let keys: KeyRings
    private let options: Options

    package init(_ configuration: Configuration, keys: KeyRings = KeyRings(), _ options: Options) {
        self.configuration = configuration
        self.keys = keys
        self.options = options
    }

    private var inputName: String {
        options.inputs.count == 1 ? options.inputs[0] : "\(options.inputs.count) captures"
    }

    /// - Parameter report: called with the finished requests and, if known, the share of the captures that is done.
    package func run(report: (_ requests: Int, _ share: Double?) -> Void) throws -> ReplaySummary {
        let alarms = Locked<[String]>([])
        let rig = try LoopRig(configuration) { alarm in alarms.withLock { $0.append(alarm) } }
        let keyTable = try options.keys.map(KeyTable.read)
        var settings = configuration.pipelineSettings(keys)
        settings.sharesLedger = true
        settings.keepsValues = options.explain != nil || options.report != nil
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
        let writer = try explanations(settings)
        let reporting = try options.report.map { try ReplayReporting($0, settings, try configuration.trustAnchors()) }
        loopOptions.observer = Self.both(writer?.observer, reporting?.facts.observer)
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
            let place = streams.place(ofLine: fault.lineNumber)
            throw LeftOutLines.fault(place.path, place.line, fault.reason)
        }
        try streams.close()
        try writer?.close()
        let elapsed = ContinuousClock.now - start
        var summary = ReplaySummary(
            tally: tally,
            warnings: alarms.withLock { $0 } + (keyTable?.unusable.warnings(of: options.keys ?? "") ?? [])
                + streams.cutLines.flatMap { LeftOutLines(cutLine: $0.line).warnings(of: $0.path) }
                + LeftOutLines(count: tally.skippedLines).warnings(of: inputName)
                + Self.warnings(repeated: tally.repeatedRecords) + copies.warnings + streams.timestamps.warnings,
            seconds: elapsed / .seconds(1),
            lanes: rig.count,
            engine: rig.engine.name,
            signatures: rig.meter.total,
            microsecondsPerSignature: rig.meter.microsecondsPerSignature
        )
        summary.report = try reporting?.write(options, summary)
        return summary
    }

    private static func warnings(repeated count: Int) -> [String] {
        guard count > 0 else { return [] }
        return ["left out \(count.counted("record", "that stands", "that stand")) in the captures for a second time"]
    }

    private static func both(_ one: Observer?, _ other: Observer?) -> Observer? {
        guard let one, let other else { return one ?? other }
        return { observation in
            one(observation)
            other(observation)
        }
    }

    private func explanations(_ settings: PipelineSettings) throws -> ExplanationWriter? {
        try options.explain.map { path in
            let explainer = Explainer(settings: settings, anchors: try configuration.trustAnchors())
            return try ExplanationWriter(path, explainer: explainer)
        }
    }
}
