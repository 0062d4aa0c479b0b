internal import DeviceLab
package import KafkaPorts
internal import Log
internal import Member
package import SimulationKit
internal import TestKit

/// The simulation's client library and broker, under a seed.
package final class ModelWorld: ContractWorld {
    package let partitions: Int32 = 4
    package let broker: SimulatedBroker
    private var processes: [SimulatedProcess] = []
    private var random: SeededRandom
    private var published: [Int32: Int64] = [:]
    private var chances = ModelWorld.calm

    package init(seed: UInt64) {
        let records = (0..<partitions).map { RequestRecords.record([1], key: nil, partition: $0, offset: 0) }
        broker = SimulatedBroker(records: records, seed: seed)
        // The partitions exist, and are empty.
        for partition in 0..<partitions { broker.retainOnly(partition, fromIndex: 1) }
        random = SeededRandom(seed: seed)
    }

    /// Threads of a library lose their cores in the calmest world.
    private static let calm = {
        var chances = FaultChances.none
        chances.client.preempted = 0.02
        return chances
    }()

    package static let all: Set<Ability> = [.transactions, .fencing, .refusals]

    package var abilities: Set<Ability> { Self.all }

    package var now: Moment { Moment(milliseconds: broker.now) }

    private func newProcess(_ name: String, isStatic: Bool) -> SimulatedProcess {
        let process = SimulatedProcess(
            name: name,
            isStatic: isStatic,
            broker: broker,
            seed: random.next(),
            chances: chances
        )
        processes.append(process)
        return process
    }

    private func settings(_ name: String) -> UnitWriter.Settings {
        UnitWriter.Settings(delivery: .transaction, transactionalID: name, isStaticMember: false)
    }

    package func process(_ name: String, isStatic: Bool) throws -> MemberPorts {
        newProcess(name, isStatic: isStatic).ports(settings(name))
    }

    package func producer(_ name: String, queue: Int?) throws -> any TransactionProducer {
        let process = newProcess(name, isStatic: false)
        if queue != nil { process.chances.client.queueFull = 0.5 }
        let made = try process.makeProducer(settings(name))
        guard case .transactional(let producer) = made else { throw Standstill("no transactions") }
        return producer
    }

    package func publish(_ count: Int, to partition: Int32, of topic: ContractTopic) throws {
        for _ in 0..<count {
            switch topic {
            case .requests:
                let offset = published[partition, default: 0]
                published[partition] = offset + 1
                broker.add([RequestRecords.record([1], key: nil, partition: partition, offset: offset)])
            case .ledger:
                let record = OutboundRecord(
                    stream: .ledger,
                    partition: partition,
                    sourceOffset: 0,
                    sourceTimestamp: 0,
                    key: [1],
                    value: [1]
                )
                try broker.produce("publisher", epoch: nil, record)
            }
        }
        broker.offerAll()
    }

    package func cause(_ fault: WorldFault) throws {
        switch fault {
        // Its answers take their time anyway, and its leaders have no places.
        case .slow, .leaderMoves: return
        case .away: (chances.client.queryUnanswered, chances.client.bytesPerSecond) = (1, 1)
        case .back, .calm: chances = Self.calm
        case .unanswered(.transactionalOffsetCommit, times: 0): chances.client.offsetsUnanswered = 1
        case .unanswered: chances.hiddenRepeat = 1
        case .refused(.addOffsetsToTransaction, _, _): chances.retriable = 1
        case .refused(.transactionalOffsetCommit, _, _): chances.abortable = 1
        case .refused(.produce, _, _): chances.client.ackWithoutOffset = 1
        case .refused, .topicMade: throw Standstill("the model has no \(fault)")
        }
        for process in processes { process.chances = chances }
    }

    package func until(_ what: String, progress: () -> Int, _ condition: () throws -> Bool) throws {
        var (last, since) = (progress(), broker.now)
        while try !condition() {
            pass(Int64.random(in: 1...10, using: &random))
            let mark = progress()
            if mark != last { (last, since) = (mark, broker.now) }
            guard broker.now - since < Self.standstill else { throw Standstill(what) }
        }
    }

    private static let standstill: Int64 = 30_000

    /// Lets time pass: clients send heartbeats, and other threads get on.
    private func pass(_ milliseconds: Int64) {
        for process in processes {
            if let id = process.groupID { broker.group.heartbeat(id, at: broker.now + milliseconds) }
            while process.runJob(), Bool.random(using: &random) {}
        }
        broker.advance(by: milliseconds)
    }
}
