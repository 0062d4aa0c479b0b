internal import AppCheck
internal import Broker
internal import KafkaPorts
internal import Pipeline
internal import Settings
internal import Streams
internal import TestKit

/// `requeue` commands beside a fleet, one after the other and two at a time, on a cluster of their own where workers
/// write dead letters meanwhile: each letter is requeued once. There results stand for dead letters, and dead letters
/// for requests.
final class FleetRequeue {
    private static let id = "fleet-requeue"
    private static let topic = "requests"

    private unowned let fleet: SimulatedFleet
    private let broker: SimulatedBroker
    /// Letters that a worker has begun to write.
    private var letters = 0
    private(set) var lastFault = ""
    private(set) var complaints: [String] = []

    init(_ fleet: SimulatedFleet) {
        self.fleet = fleet
        broker = SimulatedBroker(
            records: fleet.broker.partitions.map { RequestRecords.record([], key: nil, partition: $0, offset: 0) },
            seed: fleet.random.next(),
            limits: fleet.plan.limits,
            counts: fleet.counts
        )
    }

    /// The letters' worker has ended, and what it has left open with it.
    func calm() {
        broker.advance(by: 60_000)
        for name in ["worker", Self.id] { broker.finishMarkers(of: name) }
    }

    /// Lets the cluster's time pass, and a worker write.
    func move() {
        if broker.now < fleet.broker.now { broker.advance(by: fleet.broker.now - broker.now) }
        if fleet.isChaotic, letters < 40, fleet.chance(0.03) { writeLetters() }
    }

    /// Some are aborted, and some stay open until the worker's next ones.
    private func writeLetters() {
        let epoch = broker.initProducer("worker")
        guard let partition = broker.partitions.randomElement(using: &fleet.random) else { return }
        do throws(BrokerRefusal) {
            for _ in 0...fleet.random.below(3) {
                letters += 1
                try broker.produce("worker", epoch: epoch, letter(letters, partition))
            }
            if fleet.chance(0.8) { try broker.endTransaction("worker", epoch: epoch, commit: fleet.chance(0.8)) }
        } catch { complaints.append("the letters' worker is refused") }
    }

    private func letter(_ number: Int, _ partition: Int32) -> OutboundRecord {
        var headers = [
            RecordHeader("dlq.reason", DeadLetterReason.notJSON.rawValue), RecordHeader("dlq.topic", Self.topic),
            RecordHeader("dlq.partition", "\(partition)"), RecordHeader("dlq.offset", "\(number)"),
        ]
        if number.isMultiple(of: 7) { headers.append(RecordHeader("dlq.truncated", "1")) }
        return OutboundRecord(
            stream: .results,
            partition: partition,
            sourceOffset: Int64(number),
            sourceTimestamp: 0,
            key: [UInt8(number)],
            value: Array("request \(number)".utf8),
            otherHeaders: headers
        )
    }

    /// Runs the command once. - Returns: how many letters it has written, as it says; nil where it fails.
    func run(_ time: WaitingTime) -> Int? {
        let process = fleet.command("requeue", of: broker) { [unowned self] in move() }
        let partitions = Int32(broker.partitions.count)
        let ports = Requeue.Ports(
            topic: "dead-letters",
            partitions: partitions,
            makeReader: { () throws(KafkaFault) in try process.recordReader(of: .results) },
            makeProducer: { () throws(KafkaFault) in try process.transactions(Self.id) },
            committed: { [broker] () throws(KafkaFault) in
                guard broker.stableOffsets(broker.partitions) != nil else {
                    throw KafkaFault(.unstableOffsetCommit, "a transaction holds the offsets back")
                }
                return broker.partitions.map {
                    CommittedOffset(
                        partition: $0,
                        offset: broker.committed[$0],
                        metadata: broker.metadata[$0] ?? []
                    )
                }
            },
            token: SimulatedToken.ofNobody,
            time: time
        )
        do {
            let requeue = try Requeue(
                Self.id,
                ports,
                to: Requeue.Target(topic: Self.topic, partitions: partitions),
                DeadLetterChoice(),
                transactionRecords: 2,
                writes: true
            )
            let written = try requeue.perform { _ in }
            fleet.counts.note("\(broker.now) requeue is done")
            return written
        } catch {
            // A command may fail, and is run again.
            lastFault = "\(error)"
            fleet.counts.note("\(broker.now) requeue ends: \(error)")
            if !(error is KafkaFault || error is CommandFault) { complaints.append("requeue ends with \(error)") }
            return nil
        }
    }

    /// Every letter that was committed is requeued once, as it was; the order is that of its partition.
    func check() {
        calm()
        for partition in broker.partitions {
            let letters = broker.log(.results, partition).visible.filter { letter in
                !letter.headers.contains { $0.name == Array("dlq.truncated".utf8) }
            }
            let requests = broker.log(.deadLetters, partition).visible
            let ids = letters.map {
                [RecordHeader("request-id", "\(Self.topic)/\(partition)/\($0.sourceOffset)")]
            }
            let isWhole = requests.map(\.value) == letters.map(\.value) && requests.map(\.headers) == ids
            if isWhole, requests.map(\.key) == letters.map(\.key) { continue }
            complaints.append(
                "of the letters \(letters.map(\.sourceOffset)) of partition \(partition), "
                    + "\(requests.map(\.text)) are requeued"
            )
        }
        complaints += broker.violations
    }
}
