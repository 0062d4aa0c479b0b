internal import AppAttest
internal import AppCheck
package import Broker
package import Crypto
package import KafkaPorts
package import Member
package import Pipeline
package import Settings
package import Streams
package import Telemetry

/// The lanes, one verifier and one engine each, with a meter for all; and the loops on them.
package struct LoopRig {
    /// The lanes verify so many in less time than a commit takes.
    private static let smallBatch = 256
    /// Signatures that tokens make at once; each takes a session.
    private static let waitingLanes = 16

    package let count: Int
    package let engine: EngineChoice
    /// The sample of answers that OpenSSL judges too.
    package let watch: EngineWatch
    package let meter = TimedEngine.Meter()
    let lanes: DispatchLanes
    /// The records that each lane works on.
    let works: [WorkSlot]
    private let stages = StageMeter(clock: ProcessorTime.ofThread)

    /// - Parameter alarm: called on a lane, with a sentence, if OpenSSL disagrees with the engine.
    /// - Throws: ``ConfigurationFault`` naming the anchor that is not a certificate; ``UsageFault`` where this machine
    ///   lacks what the engine needs.
    package init(_ configuration: Configuration, alarm: @escaping EngineWatch.Alarm) throws {
        let (anchors, engine) = (try configuration.trustAnchors(), try EngineChoice(configuration.engine))
        // The pipeline's own, so that Decode and Verify agree on which lengths are too long.
        let limits = configuration.pipelineSettings(KeyRings()).objectLimits
        count = configuration.lanes > 0 ? configuration.lanes : UsableCores.count
        let (meter, watch) = (meter, engine.watch(alarm: alarm))
        (self.engine, self.watch) = (engine, watch)
        works = (0..<count + Self.waitingLanes).map { _ in WorkSlot() }
        let scratches = works.map { work in
            LaneScratch(
                verifier: ObjectVerifier(anchors: anchors, limits: limits),
                engine: TimedEngine(engine.make(watch), meter: meter, isStopped: { watch.isStopped }),
                work: work
            )
        }
        lanes = DispatchLanes(
            scratches: Array(scratches.prefix(count)),
            waiting: Array(scratches.dropFirst(count)),
            isEngineStopped: { watch.isStopped }
        )
    }

    /// Adds what the lanes have done to what a scrape shows.
    package func describe(_ snapshot: inout WorkerSnapshot) {
        (snapshot.lanes, snapshot.stages, snapshot.disagreements) = (count, stages, watch.disagreements)
        snapshot.add(meter.counts(isStopped: false), of: engine.name)
        guard watch.isStopped, engine.name != EngineUse.openSSL.rawValue else { return }
        snapshot.add(meter.counts(isStopped: true), of: EngineUse.openSSL.rawValue)
    }

    // MARK: Loops

    /// The options of so many loops of a worker.
    func options(loops: Int, batch: BatchLimits) -> [BatchLoop.Options] {
        ExclusiveSection(loops: loops).slots.map { slot in
            var options = BatchLoop.Options()
            (options.meter, options.slot) = (stages, slot)
            (options.batch, options.smallBatch) = (batch, Self.smallBatch)
            return options
        }
    }

    /// Opens a member of the group for each driver, and a loop on it.
    ///
    /// - Parameters:
    ///   - snapshots: where restores begin; nil = with the topic.
    ///   - restored: called at the end of each restore with its number of records.
    ///   - trouble: called with the faults that members ride out, on any thread.
    ///   - notice: called with those that loops ride out.
    package func join(
        _ drivers: [LoopDriver],
        _ access: BrokerSettings,
        _ delivery: OutputWriter.Settings.Delivery,
        _ settings: PipelineSettings,
        options: [BatchLoop.Options],
        snapshots: SnapshotFolder? = nil,
        restored: @escaping @Sendable (Int) -> Void = { _ in },
        trouble: @escaping @Sendable (KafkaFault) -> Void = { _ in },
        notice: @escaping @Sendable (any SourceFault) -> Void
    ) throws -> LoopSet {
        let members = try zip(drivers, access.members(drivers.count)).map { driver, settings in
            try driver.onQueue {
                try HostedMember(
                    delivery,
                    settings,
                    files: snapshots,
                    trouble: trouble,
                    restored: restored,
                    wake: driver.wake
                )
            }
        }
        return LoopSet(
            zip(drivers, zip(members, options)).map { driver, parts in
                var (member, options) = parts
                options.snapshots = snapshots
                let loop = BatchLoop(
                    streams: member.roles,
                    settings: settings,
                    lanes: lanes,
                    options: options,
                    post: driver.post,
                    wallClock: { EvaluationTime(milliseconds: WallClock.milliseconds()) },
                    uptime: Uptime.milliseconds,
                    notice: notice
                )
                return LoopSet.Member(
                    driver: driver,
                    loop: loop,
                    memberSnapshot: member.snapshot,
                    renew: { driver.onQueue(member.renew) },
                    close: { driver.onQueue(member.close) }
                )
            }
        )
    }

    /// Judges what `source` has, on this thread's time: no clock, and no group.
    ///
    /// - Parameters:
    ///   - eagerPollMilliseconds: the pause before the next poll of the source while batches are with the lanes.
    ///   - report: called ten times a second with the finished requests.
    /// - Returns: the loop at its end.
    package func replay(
        _ source: some RequestSource & PackedTransaction,
        _ settings: PipelineSettings,
        _ options: BatchLoop.Options,
        ledgers: [Int32: PartitionLedger],
        eagerPollMilliseconds: Int,
        report: (_ requests: Int) -> Void
    ) throws -> BatchLoop {
        let driver = LoopDriver(idleWaitMilliseconds: 0, eagerPollMilliseconds: eagerPollMilliseconds)
        let loop = BatchLoop(
            streams: StreamRoles(source: source, packed: source),
            settings: settings,
            lanes: lanes,
            options: options,
            ledgers: ledgers,
            post: driver.post,
            wallClock: { nil }
        )
        try driver.run(loop) { tally, _ in report(tally.requests) }
        return loop
    }
}
