internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
package import Pipeline
internal import Streams
package import TestKit

/// The real loop over topics in memory, driven request by request: each request is answered before the next one.
package final class ExchangeRig {
    package struct Stuck: Error {}

    package let streams: MemoryStreams
    package private(set) var loop: BatchLoop
    package private(set) var settings: PipelineSettings
    private let world: RigWorld
    private let lanes: SimulatedLanes
    /// A worker on the rig's topics.
    private let newLoop: (PipelineSettings) -> BatchLoop
    private var sent = 0
    /// Whether the requests' times are the brokers'.
    package var hasLogAppendTime = false

    /// - Parameter isLive: false = replay: no wall clock.
    package init(
        _ settings: PipelineSettings,
        partitions: Int32 = 1,
        isLive: Bool = true,
        seed: UInt64 = 1,
        options: BatchLoop.Options = BatchLoop.Options()
    ) throws {
        let verifier = ObjectVerifier(anchors: try ExchangeKit.ca.anchors(), limits: settings.objectLimits)
        let lanes = SimulatedLanes(scratch: LaneScratch(verifier: verifier, engine: OpenSSLEngine()), seed: seed)
        let (streams, world) = (MemoryStreams(partitions: partitions), RigWorld(isLive: isLive))
        newLoop = { settings in
            lanes.loop(
                StreamRoles(source: streams, transaction: streams, hasLedgers: true),
                settings,
                options,
                wallClock: { world.now },
                uptime: { world.isLive ? world.milliseconds : nil },
                notice: { if let act = $0 as? OperatorAct { world.acts.append(act) } }
            )
        }
        (self.streams, self.lanes, self.world) = (streams, lanes, world)
        self.settings = Self.own(settings, world)
        loop = newLoop(self.settings)
        try settle()
    }

    /// One source for the whole life of the rig: after a restart no challenge is made twice.
    private static func own(_ settings: PipelineSettings, _ world: RigWorld) -> PipelineSettings {
        var settings = settings
        if settings.exchange.randomBytes != nil { settings.exchange.randomBytes = { world.random.bytes($0) } }
        return settings
    }

    /// What operators' commands have done, as the loop tells it.
    package var acts: [OperatorAct] { world.acts }

    /// The brokers' and the worker's time, in milliseconds.
    package var time: Int64 {
        get { world.milliseconds }
        set { world.milliseconds = newValue }
    }

    /// How far the worker's clock is ahead of the brokers', in milliseconds.
    package var ahead: Int64 {
        get { world.ahead }
        set { world.ahead = newValue }
    }

    /// A worker dies and another one comes, with the compacted ledger topic alone.
    package func restart(_ settings: PipelineSettings? = nil) throws {
        streams.restart()
        self.settings = settings.map { Self.own($0, world) } ?? self.settings
        loop = newLoop(self.settings)
        try settle()
    }

    /// As ``restart(_:)`` with the settings that were, until the ledger is being read.
    package func restartRestoring() throws {
        streams.restart()
        loop = newLoop(settings)
        while loop.restoring == nil { _ = try loop.tick(waitMilliseconds: 0) }
    }

    /// Other settings come while the ledger is being read.
    package func restartReplacing(with next: PipelineSettings) throws {
        try restartRestoring()
        loop.replace(Self.own(next, world)) { _ in }
        try settle()
    }

    /// - Returns: the keys that the settings lack; nil = the settings are in force.
    package func replace(_ settings: PipelineSettings) throws -> MissingSealingKeys? {
        let settings = Self.own(settings, world)
        world.missing = nil
        loop.replace(settings) { [world] in world.missing = $0 }
        try settle()
        if world.missing == nil { self.settings = settings }
        return world.missing
    }

    /// Requests other settings without waiting: they take effect when the batches in flight are done.
    package func replaceLater(_ settings: PipelineSettings) {
        self.settings = Self.own(settings, world)
        loop.replace(self.settings) { _ in }
    }

    /// Writes requests to the topic, without waiting.
    package func put(_ request: ExchangeRequest) -> (partition: Int32, offset: Int64) {
        sent += 1
        let partition =
            request.partition ?? request.key.map { ExchangeKit.partition(of: $0, streams.partitions) } ?? 0
        let offset = streams.end(of: partition)
        let id = RecordHeader("request-id", request.id ?? "request-\(sent)")
        var record = InboundRecord(
            topic: "appattest.requests",
            partition: partition,
            offset: offset,
            timestamp: request.timestamp ?? time,
            key: request.key,
            value: request.value,
            headers: [id] + request.headers
        )
        record.hasLogAppendTime = hasLogAppendTime
        streams.add(record)
        return (partition, offset)
    }

    /// All in one batch, or in a few.
    package func send(_ requests: [ExchangeRequest]) throws -> [ExchangeAnswers] {
        let before = streams.outputs.count
        let places = requests.map(put)
        try settle()
        let outputs = streams.outputs[before...]
        return try places.map { place in
            try ExchangeAnswers(
                outputs.filter { output in
                    // A reply lies where its request asks for it.
                    (output.partition == place.partition || output.stream == .replies)
                        && output.sourceOffset == place.offset
                }
            )
        }
    }

    package func send(_ request: ExchangeRequest) throws -> ExchangeAnswers {
        guard let answers = try send([request]).first else { throw Stuck() }
        return answers
    }

    /// Runs until nothing is left to do.
    package func settle() throws {
        for _ in 0..<1_000_000 {
            switch try loop.tick(waitMilliseconds: 0) {
            case .worked, .backOff: continue
            case .waiting:
                if !lanes.finishOne(), loop.isIdle, loop.restoring == nil { return }
            case .finished: return
            }
        }
        throw Stuck()
    }
}

/// What the loop and the test share.
private final class RigWorld: @unchecked Sendable {
    // The simulated lanes have one thread, the test's.
    let isLive: Bool
    var milliseconds = ExchangeKit.start
    var ahead: Int64 = 0
    /// Notices that the loop has reported.
    var acts: [OperatorAct] = []
    /// The answer to the last replacement of the settings.
    var missing: MissingSealingKeys?
    /// The source of challenges' bytes: no two are the same, and every run has the same ones.
    var random = SeededRandom(seed: 4711)

    init(isLive: Bool) { self.isLive = isLive }

    var now: EvaluationTime? { isLive ? EvaluationTime(milliseconds: milliseconds + ahead) : nil }
}
