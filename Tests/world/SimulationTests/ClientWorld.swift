import KafkaPorts
import Member
import SimulationKit
import Streams
import TestKit

/// A simulated broker with requests in three partitions, and processes with clients of it.
final class ClientWorld {
    static let partitions: [Int32] = [0, 1, 2]

    let broker: SimulatedBroker
    private(set) var processes: [SimulatedProcess] = []

    init(requests: Int64 = 4, seed: UInt64 = 1, limits: SimulatedBroker.Limits = .init()) {
        let records = (0..<requests).flatMap { offset in
            Self.partitions.map { RequestRecords.record([1], key: nil, partition: $0, offset: offset) }
        }
        broker = SimulatedBroker(records: records, seed: seed, limits: limits)
        broker.offerAll()
    }

    func process(_ name: String, isStatic: Bool = false, chances: FaultChances = .none) -> SimulatedProcess {
        let seed = UInt64(processes.count + 1)
        let process = SimulatedProcess(name: name, isStatic: isStatic, broker: broker, seed: seed, chances: chances)
        processes.append(process)
        return process
    }

    func ports(_ process: SimulatedProcess) -> MemberPorts {
        process.ports(
            OutputWriter.Settings(delivery: .transaction, transactionalID: process.name, isStaticMember: false)
        )
    }

    /// Lets time pass; clients send heartbeats.
    func pass(_ milliseconds: Int64, but silent: [SimulatedProcess] = []) {
        for process in processes where !silent.contains(where: { $0 === process }) {
            if let id = process.groupID { broker.group.heartbeat(id, at: broker.now + milliseconds) }
        }
        broker.advance(by: milliseconds)
    }

    /// A transactional producer that has taken over an id.
    func producer(_ process: SimulatedProcess) throws -> any TransactionProducer {
        let settings = OutputWriter.Settings(
            delivery: .transaction,
            transactionalID: process.name,
            isStaticMember: false
        )
        guard case .transactional(let producer) = try process.makeProducer(settings) else {
            throw KafkaFault.invalid("not a transactional producer")
        }
        try producer.initTransactions(limit: 250)
        return producer
    }

    static func output(_ text: String, _ stream: OutputTopic = .ledger, offset: Int64 = 0) -> OutboundRecord {
        OutboundRecord(
            stream: stream,
            partition: 0,
            sourceOffset: offset,
            sourceTimestamp: 0,
            key: Array(text.utf8),
            value: Array(text.utf8)
        )
    }

    /// What a read_committed reader of the ledger sees.
    var texts: [String] { (broker.visible(.ledger)[0] ?? []).map { String(decoding: $0.value ?? [], as: UTF8.self) } }
}

/// A member as simple as can be: it answers every change at once and reads what it gets.
final class SimpleMember {
    let world: ClientWorld
    let process: SimulatedProcess
    let consumer: any GroupConsumer
    private(set) var events: [String] = []
    private(set) var owned: [Int32] = []
    private(set) var read: [Int32: [Int64]] = [:]
    private(set) var commits: [KafkaFault?] = []
    var answers = true

    init(_ world: ClientWorld, _ process: SimulatedProcess) throws {
        (self.world, self.process) = (world, process)
        consumer = try world.ports(process).makeConsumer()
        try consumer.subscribe()
    }

    func step() throws {
        guard let event = consumer.poll(waiting: 0) else { return }
        switch event {
        case .record(let record, _):
            let record = record.take()
            read[record.partition, default: []].append(record.offset)
        case .end: break
        case .assigned(let partitions):
            events.append("assigned \(partitions)")
            owned = partitions
            guard answers else { return }
            try consumer.assign(partitions.map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
        case .revoked(let partitions), .lost(let partitions):
            if case .lost = event {
                events.append("lost \(partitions)")
            } else {
                events.append("revoked \(partitions)")
            }
            owned = []
            if answers { try consumer.unassign() }
        case .fault(let fault): events.append(fault.name)
        case .committed(_, let fault): commits.append(fault)
        }
    }

    static func run(_ members: [SimpleMember], steps: Int, passing milliseconds: Int64 = 10) throws {
        for _ in 0..<steps {
            members.first?.world.pass(milliseconds)
            for member in members { try member.step() }
        }
    }
}
