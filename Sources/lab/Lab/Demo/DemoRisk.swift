internal import AppAttest
internal import AppCheck
internal import CommandFrame
internal import Crypto
internal import DeviceLab
internal import Gateway
internal import KafkaPorts
internal import Refresher
internal import Risk
internal import Settings
internal import Streams
internal import Telemetry
internal import Threads
internal import Traffic

/// The fraud risk metric inside the demo: the service that refreshes receipts, a double of Apple, and one device that
/// attests for others.
final class DemoRisk {
    /// Apple's double, and the greatest metric that the demo's app serves.
    static let mostServed: UInt16 = 5
    private static let keyCount = 8
    private static let team = "ABCDE12345"
    /// A receipt is exchanged so long after its attestation.
    private static let firstMilliseconds: Int64 = 200
    private static let callsPerSecond = 200.0

    private enum Step { case attesting, exchanging, asserting }

    let device: BrokerDevice
    private let apple: LabAppleServer
    private let loop: RefreshLoop
    private let inbox = RefreshInbox()
    private let writer: RequestWriter
    private let outlet: NotingOutlet
    private let stage: DemoStage
    private var step = Step.attesting
    private var published = 0

    /// - Parameter say: takes faults that are ridden out, on any thread.
    init(_ stage: DemoStage, say: @escaping @Sendable (String) -> Void) throws {
        self.stage = stage
        let partitions = stage.partitions
        device = BrokerDevice(ca: stage.ca, app: stage.configuration.registry.apps[0], keys: Self.keyCount)
        let key = try SigningKey.generate(.p256)
        guard let provider = ProviderKey(team: Self.team, kid: "DEMO", key: key) else {
            preconditionFailure("the key is on P-256")
        }
        let settings = LabApple.Settings(keys: [DeviceCheckKey(team: Self.team, kid: "DEMO", publicKey: key.publicKey)])
        apple = try LabAppleServer(LabApple(stage.ca, settings), port: 0, now: WallClock.now)
        var own = stage.configuration
        own.kafkaProperties = stage.properties.map { (name: $0.0, value: $0.1) }
        own.risk.production = apple.url
        own.membership = .dynamic
        let broker = try RefreshBroker(own, instance: "demo")
        let inbox = inbox
        writer = broker.writer(partitions: partitions) { say($0.message) }
        try writer.start { inbox.put(.reports($0)) }
        outlet = NotingOutlet(writer)
        loop = RefreshLoop(
            try Self.driver(own, provider, stage.ca, partitions),
            groups: try ReceiptLine.allCases.map { line in
                let group = try LineGroup(line, partitions: partitions, say: { _ in }) { () throws(KafkaFault) in
                    try broker.consumer(line)
                }
                try group.start()
                return group
            },
            caller: try AppleCalls(own.risk),
            outlet: outlet,
            topic: own.topics.requests,
            inbox: inbox,
            monitor: RefreshMonitor(version: AttestWorker.version),
            say: { if $0.level > .info { say($0.message) } }
        )
    }

    private static func driver(
        _ configuration: Configuration,
        _ key: ProviderKey,
        _ ca: LabCA,
        _ partitions: Int32
    ) throws -> RefreshDriver {
        let apps = Set(configuration.registry.apps.map(\.name))
        let lines = LineSettings(first: firstMilliseconds)
        let rules = RefreshRules(keys: [key], apps: apps, callsPerSecond: callsPerSecond, lines: lines)
        let judge = AppleReceipts(ObjectVerifier(anchors: try ca.anchors()), engine: OpenSSLEngine())
        return RefreshDriver(rules, partitions: Int(partitions), judge: judge)
    }

    /// Receipts that Apple's double answered with.
    var answers: Int { outlet.keys.count }

    /// Records that were written to the requests topic: the device's, and what Apple answered.
    var records: Int { published + answers }

    /// Whether the device's keys have asserted after their metrics were written.
    var isDone: Bool { step == .asserting && loop.openCount == 0 }

    /// Serves the refresher once, and goes on with the device.
    func pass() throws {
        let pause = try loop.pass(at: WallClock.now(), now: Uptime.milliseconds() ?? 0)
        switch step {
        case .attesting:
            try send(device.attestations(at: WallClock.now()))
            step = .exchanging
        case .exchanging:
            let written = Set(outlet.keys)
            guard loop.openCount == 0, device.keyIDs.allSatisfy({ written.contains($0.recordKey) }) else { break }
            // Behind the metrics in each key's partition.
            try send(device.assertions())
            step = .asserting
        case .asserting: break
        }
        inbox.wait(milliseconds: min(pause, 5))
    }

    private func send(_ records: [InboundRecord]) throws {
        // Returns when they are acknowledged.
        try stage.publish(records, keepsPartitions: false)
        published += records.count
    }

    /// How many calls Apple's double answered.
    func close() -> Int {
        loop.close()
        writer.stop()
        apple.stop()
        return apple.account.calls
    }
}

/// Notes the keys whose receipts are written.
private final class NotingOutlet: RequestOutlet {
    private let writer: RequestWriter
    private let noted = Locked<[[UInt8]]>([])

    init(_ writer: RequestWriter) { self.writer = writer }

    var keys: [[UInt8]] { noted.withLock { $0 } }

    func write(_ record: OutboundRequest) {
        noted.withLock { $0.append(record.key ?? []) }
        writer.write(record)
    }
}
