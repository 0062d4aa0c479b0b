internal import AppAttest
internal import AppCheck
internal import Broker
internal import Log
internal import Pipeline
internal import Settings

/// A replay: a capture through the pipeline, with every file it writes.
struct ReplaySession {
    struct Options: Sendable {
        var input: String
        var output: String
        var keys: String?
        /// Whether tokens, artifacts and challenges are made.
        var mints = false
        /// Whether lines that are no record are left out and counted, instead of ending the replay.
        var skipsBadLines = false
        init(input: String, output: String, keys: String? = nil) {
            self.input = input
            self.output = output
            self.keys = keys
        }
    }

    /// There are no transactions to pay for, so batches are small: a stage's output is still in the cache for the next.
    private static let batchRecords = 1024

    private let configuration: Configuration
    private let keys: KeyRings
    private let options: Options

    init(_ configuration: Configuration, keys: KeyRings = KeyRings(), _ options: Options) {
        self.configuration = configuration
        self.keys = keys
        self.options = options
    }

    /// - Parameter report: called with the finished requests and, if known, the share of the capture that was read.
    func run(report: (_ requests: Int, _ share: Double?) -> Void) throws -> ReplaySummary {
        let alarms = Locked<[String]>([])
        let factory = try LaneFactory(configuration) { alarm in alarms.withLock { $0.append(alarm) } }
        let ledger = try options.keys.map(KeyTable.read) ?? KeyLedger()
        var settings = configuration.pipelineSettings(keys)
        settings.sharesLedger = true
        settings.exchange.mints = options.mints
        if options.mints {
            let library = try SigningChoice(configuration.engine).make(factory.engine, factory.watch) { alarm in
                alarms.withLock { $0.append(alarm) }
            }
            settings.exchange.signer = keys.tokens.signer(library)
        }
        settings.skipsBadLines = options.skipsBadLines
        let log = try CaptureLog(
            input: options.input,
            output: options.output,
            topics: configuration.topics.outputs
        )
        // The file is read as soon as a batch leaves, so there is no need to poll in between.
        let driver = LoopDriver(idleWaitMilliseconds: 0, eagerPollMilliseconds: 100)
        var loopOptions = BatchLoop.Options()
        loopOptions.batch = configuration.batch
        loopOptions.batch.records = min(configuration.batch.records, Self.batchRecords)
        let loop = BatchLoop(
            log: LogRoles(source: log, packed: log),
            settings: settings,
            lanes: factory.lanes,
            options: loopOptions,
            ledgers: [0: PartitionLedger(keys: ledger)],
            post: driver.post,
            wallClock: { nil }
        )
        let start = ContinuousClock.now
        do { try driver.run(loop) { tally, _ in report(tally.requests, log.share) } } catch let fault as CaptureFault {
            throw LeftOutLines.fault(options.input, fault.lineNumber, fault.reason)
        }
        try log.close()
        let elapsed = ContinuousClock.now - start
        return ReplaySummary(
            tally: loop.tally,
            warnings: alarms.withLock { $0 }
                + LeftOutLines(cutLine: log.cutLine, count: loop.tally.skippedLines).warnings(of: options.input),
            seconds: elapsed / .seconds(1),
            lanes: factory.count,
            engine: factory.engine.name,
            signatures: factory.meter.total,
            microsecondsPerSignature: factory.meter.microsecondsPerSignature
        )
    }
}
