internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Pipeline
internal import Settings
internal import Telemetry

/// Makes the lanes: one verifier and one engine each, a meter for all.
struct LaneFactory {
    let count: Int
    let engine: EngineChoice
    /// The sample of answers that OpenSSL judges too.
    let watch: EngineWatch
    let meter = TimedEngine.Meter()
    let stages = StageMeter(clock: ProcessorTime.ofThread)
    let lanes: DispatchLanes
    /// The records that each lane works on.
    let works: [WorkSlot]

    /// - Parameter alarm: called on a lane, with a sentence, if OpenSSL disagrees with the engine.
    /// - Throws: ``ConfigurationFault`` naming the anchor that is not a certificate; ``UsageFault`` where this machine
    ///   lacks what the engine needs.
    init(_ configuration: Configuration, alarm: @escaping EngineWatch.Alarm) throws {
        self.init(
            lanes: configuration.lanes,
            engine: try EngineChoice(configuration.engine),
            anchors: try configuration.trustAnchors(),
            limits: configuration.pipelineSettings(KeyRings()).objectLimits,
            alarm: alarm
        )
    }

    /// - Parameters:
    ///   - lanes: as configured; 0 = one per core.
    ///   - limits: the pipeline's own, so that Decode and Verify agree on which lengths are too long.
    init(
        lanes configured: Int,
        engine: EngineChoice,
        anchors: TrustAnchors,
        limits: ObjectLimits,
        alarm: @escaping EngineWatch.Alarm
    ) {
        count = configured > 0 ? configured : UsableCores.count
        let (meter, watch) = (meter, engine.watch(alarm: alarm))
        self.engine = engine
        self.watch = watch
        works = (0..<count).map { _ in WorkSlot() }
        lanes = DispatchLanes(
            scratches: works.map { work in
                LaneScratch(
                    verifier: ObjectVerifier(anchors: anchors, limits: limits),
                    engine: TimedEngine(engine.make(watch), meter: meter, isStopped: { watch.isStopped }),
                    work: work
                )
            },
            isEngineStopped: { watch.isStopped }
        )
    }

    /// Adds what the lanes have done to what a scrape shows.
    func describe(_ snapshot: inout WorkerSnapshot) {
        (snapshot.lanes, snapshot.stages, snapshot.disagreements) = (count, stages, watch.disagreements)
        snapshot.add(meter.counts(isStopped: false), of: engine.name)
        guard watch.isStopped, engine.name != EngineUse.openSSL.rawValue else { return }
        snapshot.add(meter.counts(isStopped: true), of: EngineUse.openSSL.rawValue)
    }
}
