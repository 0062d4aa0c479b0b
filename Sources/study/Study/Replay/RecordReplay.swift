package import AppAttest
package import AppCheck
internal import Broker
internal import Kafka
package import Pipeline
internal import Run
package import Settings
internal import Streams
internal import Threads

/// One record of a capture as a worker judged it: everything before it goes through the pipeline first.
package struct RecordReplay {
    package struct Options {
        var input: String
        var record: RecordSought
        var keys: String?
        package var skipsBadLines = false
        /// The wall clock when a worker got the record; nil = its age is not judged.
        package var now: EvaluationTime?
        /// The partitions of the requests topic; nil = neither a key's partition nor the rate is judged.
        package var partitions: Int32?

        package init(input: String, record: RecordSought, keys: String? = nil) {
            (self.input, self.record, self.keys) = (input, record, keys)
        }
    }

    package struct Outcome {
        package let explanation: Explanation
        /// Later records with the same request id.
        package let others: [String]
        package let warnings: [String]
    }

    private let configuration: Configuration
    private let keys: KeyRings
    private let options: Options

    package init(_ configuration: Configuration, keys: KeyRings, _ options: Options) {
        (self.configuration, self.keys, self.options) = (configuration, keys, options)
    }

    /// - Parameter report: called with the finished requests.
    package func run(report: (_ requests: Int) -> Void) throws -> Outcome {
        let rig = try LoopRig(configuration) { _ in }
        let keyTable = try options.keys.map(KeyTable.read)
        let ledger = keyTable?.ledger ?? PartitionLedger()
        let source = try CaptureUntil(options.input, options.record, skipsBadLines: options.skipsBadLines)
        let copies = SecondCopies(settings)
        var earlierOptions = BatchLoop.Options()
        earlierOptions.isNew = { try copies.isNew($0) }
        let refusals = Locked(EarlierRefusals())
        earlierOptions.observer = { observation in refusals.withLock { $0.note(observation) } }
        let earlier = try judge(DroppingSource(next: source.next), rig, [0: ledger], earlierOptions, report)
        guard let record = source.found else {
            throw CommandFault("\(options.input): \(options.record) is not in the capture.")
        }
        let seen = Locked<[Observation]>([])
        var loopOptions = BatchLoop.Options()
        loopOptions.agesJudgedAt = options.now
        loopOptions.showsPassedChecks = true
        loopOptions.observer = { observation in seen.withLock { $0.append(observation) } }
        var rest: ArraySlice = [record]
        _ = try judge(DroppingSource { rest.popFirst() }, rig, earlier, loopOptions) { _ in }
        guard let observation = seen.withLock({ $0.first }) else {
            throw CommandFault("\(options.input): \(options.record) was not judged.")
        }
        let explainer = Explainer(
            settings: settings,
            anchors: try configuration.trustAnchors(),
            now: options.now,
            earlier: refusals.withLock { $0 }
        )
        let others = try source.others()
        return Outcome(
            explanation: explainer.explain(observation),
            others: others,
            warnings: source.lines.warnings + copies.warnings
                + (keyTable?.unusable.warnings(of: options.keys ?? "") ?? [])
        )
    }

    /// - Returns: the ledgers afterwards.
    private func judge(
        _ source: DroppingSource,
        _ rig: LoopRig,
        _ ledgers: [Int32: PartitionLedger],
        _ options: BatchLoop.Options,
        _ report: (Int) -> Void
    ) throws -> [Int32: PartitionLedger] {
        try rig.replay(source, settings, options, ledgers: ledgers, eagerPollMilliseconds: 5, report: report).ledgers
    }

    private var settings: PipelineSettings {
        var settings = configuration.pipelineSettings(keys)
        settings.sharesLedger = true
        settings.keepsValues = true
        settings.exchange.mints = false
        guard let partitions = options.partitions else { return settings }
        settings.exchange.partitions = Int(partitions)
        if let partitioner = configuration.partitioner.partitioner {
            settings.partitionOfKey = { partitioner.partition(of: $0, count: partitions) }
        }
        return settings
    }
}
