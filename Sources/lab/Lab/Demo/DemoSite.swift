internal import AppAttest
internal import Broker
internal import CommandFrame
internal import Crypto
internal import Glibc
internal import HTTP
internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Refresher
internal import Risk
internal import Settings
internal import Streams
internal import Study
internal import Traffic

/// A Kafka of the user's own as the demo's broker. Topics and groups bear a name that this run alone has, and are removed
/// at its end.
struct DemoSite {
    private static let partitions = 4
    /// A member that has just left may still count as one.
    private static let removalTime = Duration.seconds(15)

    /// The beginning of the topics' and groups' names.
    let name: String
    /// How long requests go on after the account; nil = until a signal.
    let seconds: Int?
    private let brokers: String
    /// Lines of kafka.properties for a cluster that asks for them.
    private let lines: String
    private let metricsPort: UInt16

    /// - Parameters:
    ///   - brokers: HOST:PORT, or several with commas between.
    ///   - properties: a file with further lines of kafka.properties.
    init(brokers: String, properties: String?, seconds: Int?) throws {
        let isList = brokers.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { broker in
            broker.contains(":") && broker.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        }
        guard isList else {
            throw UsageFault("--broker must be HOST:PORT, or several with commas between, not '\(brokers.printable)'.")
        }
        (self.brokers, self.seconds) = (brokers, seconds)
        lines =
            try properties.map { path in
                do throws(CommandFault) {
                    return String(decoding: try WholeFile.read(path, most: 1 << 20), as: UTF8.self)
                } catch {
                    throw UsageFault("--properties: \(error.sentence)")
                }
            } ?? ""
        name = "attest-demo-" + Hexadecimal.encode(SecureRandom.bytes(4))
        // A free port: it is another's only if one takes it in between.
        let probe = try HTTPCallServer(address: "127.0.0.1", port: 0) { _, _ in }
        metricsPort = probe.port
        probe.stop()
    }

    var metricsAddress: String { "http://127.0.0.1:\(metricsPort)" }

    var configuration: NewConfiguration.Site {
        NewConfiguration.Site(
            prefix: name,
            members: "\"membership\": \"dynamic\",\n  \"metrics\": {\"port\": \(metricsPort)},\n  ",
            kafka: "bootstrap.servers=\(brokers)\ngroup.id=\(name)\nmax.poll.interval.ms=60000\n\(lines)\n"
        )
    }

    /// Makes the topics.
    func prepare(_ configuration: Configuration, _ console: Console) throws {
        console.print("Topics \(name).* and groups of that name are made on \(brokers), and removed at the end.")
        let report = try CommandFault.explaining("the demo's topics cannot be created", by: \.description) {
            try TopicCreator.createTopics(
                properties: try configuration.brokerProperties(),
                topics: configuration.topics,
                partitions: Self.partitions,
                replication: nil
            )
        }
        guard let complaint = report.complaints.first else { return }
        remove(configuration, console)
        throw CommandFault("the demo's topics cannot be created: \(complaint).")
    }

    /// Removes the topics and groups.
    ///
    /// - Returns: false where some are left: a line says so.
    @discardableResult
    func remove(_ configuration: Configuration, _ console: Console) -> Bool {
        let deadline = ContinuousClock.now + Self.removalTime
        while true {
            do {
                let admin = try Admin(KafkaProperties(try configuration.brokerProperties()))
                try admin.deleteTopics(configuration.topics.all)
                let refresher = try RefreshBroker(configuration, instance: "demo")
                try admin.deleteGroups([name] + ReceiptLine.allCases.map { refresher.group(of: $0) })
                console.print("Topics and groups \(name).* are removed.")
                return true
            } catch {
                guard ContinuousClock.now > deadline else {
                    usleep(500_000)
                    continue
                }
                console.printError("\(AttestWorker.name): remove topics and groups \(name).* by hand: \(error)")
                return false
            }
        }
    }

    /// Prints one refusal as `inspect` explains it, from the requests topic itself.
    func explain(
        _ traffic: DemoTraffic,
        _ requests: [InboundRecord],
        _ loaded: LoadedConfiguration,
        directory: String,
        _ console: Console
    ) throws {
        let refused = traffic.items.first { $0.expected == "nonce-mismatch" || $0.expected == "signature-invalid" }
        guard let id = refused?.record.headers.first?.value else { return }
        let path = "\(directory)/requests.ndjson"
        let capture = try CaptureWriter(path: path, holds: .plain, lanes: 1)
        try capture.write(requests)
        try capture.close()
        let options = RecordReplay.Options(input: path, record: .requestID(id))
        let outcome = try RecordReplay(loaded.configuration, keys: loaded.keys.rings, options).run { _ in }
        let name = String(decoding: id, as: UTF8.self)
        console.print("\nThe refusal of \(name), as inspect --input CAPTURE --request-id ID explains it:\n")
        console.print(ExplanationView(outcome.explanation, others: []).text)
    }
}

/// Requests of a few devices that go on, so that the metrics move.
final class DemoLive {
    static let devices = 3
    private static let pause = Duration.seconds(1)

    private let make: (_ seed: UInt64) -> StockFleet
    private let end: ContinuousClock.Instant?
    private var fleet: StockFleet
    private var round: UInt64 = 0
    private var next = ContinuousClock.now

    /// - Parameters:
    ///   - seconds: nil = without an end.
    ///   - make: a fleet under a seed; all of them share a link.
    init(seconds: Int?, _ make: @escaping (_ seed: UInt64) -> StockFleet) {
        end = seconds.map { ContinuousClock.now + .seconds($0) }
        (self.make, fleet) = (make, make(100))
    }

    var isOver: Bool { end.map { ContinuousClock.now >= $0 } ?? false }

    /// Serves the devices for a moment; a second after the last answer of a round the next begins.
    func step(at time: EvaluationTime) throws {
        if fleet.isDone {
            guard ContinuousClock.now >= next else { return }
            round += 1
            fleet = make(100 + round)
        }
        try fleet.step(at: time, milliseconds: 50)
        if fleet.isDone { next = ContinuousClock.now + Self.pause }
    }

    func close() throws { try fleet.close() }
}
