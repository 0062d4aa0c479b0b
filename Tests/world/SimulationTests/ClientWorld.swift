import KafkaPorts
import Member
import SimulationKit
import Streams
import TestKit

/// A simulated broker with requests in three partitions, and processes with clients of it.
final class ClientWorld {
    let broker: SimulatedBroker
    private var processes: [SimulatedProcess] = []

    init(limits: SimulatedBroker.Limits = .init()) {
        let records = (0..<4 as Range<Int64>).flatMap { offset in
            (0..<3 as Range<Int32>).map { RequestRecords.record([1], key: nil, partition: $0, offset: offset) }
        }
        broker = SimulatedBroker(records: records, seed: 1, limits: limits)
        broker.offerAll()
    }

    func process(_ name: String) -> SimulatedProcess {
        let seed = UInt64(processes.count + 1)
        let process = SimulatedProcess(name: name, isStatic: false, broker: broker, seed: seed, chances: .none)
        processes.append(process)
        return process
    }

    private static func settings(_ process: SimulatedProcess) -> OutputWriter.Settings {
        OutputWriter.Settings(delivery: .transaction, transactionalID: process.name, isStaticMember: false)
    }

    func ports(_ process: SimulatedProcess) -> MemberPorts { process.ports(Self.settings(process)) }

    /// Lets time pass; clients send heartbeats.
    func pass(_ milliseconds: Int64, but silent: [SimulatedProcess] = []) {
        for process in processes where !silent.contains(where: { $0 === process }) {
            if let id = process.groupID { broker.group.heartbeat(id, at: broker.now + milliseconds) }
        }
        broker.advance(by: milliseconds)
    }

    /// A transactional producer that has taken over an id.
    func producer(_ process: SimulatedProcess) throws -> any TransactionProducer {
        guard case .transactional(let producer) = try process.makeProducer(Self.settings(process)) else {
            throw KafkaFault.invalid("not a transactional producer")
        }
        try producer.initTransactions(limit: 250)
        return producer
    }

    /// A record of the first partition's ledger.
    static func output(_ text: String) -> OutboundRecord {
        OutboundRecord(
            stream: .ledger,
            partition: 0,
            sourceOffset: 0,
            sourceTimestamp: 0,
            key: Array(text.utf8),
            value: Array(text.utf8)
        )
    }

    /// What a read_committed reader of the ledger sees.
    var texts: [String] { (broker.visible(.ledger)[0] ?? []).map { String(decoding: $0.value ?? [], as: UTF8.self) } }
}
